import { type EventOf, type EventType, isTicklessError } from '../../../src/index.ts';
import { wordOf } from '../../support/events.ts';

/** An error with its code. */
export function errorText(error: unknown): string {
  return isTicklessError(error) ? `${error.code} ${error.message}` : String(error);
}

/** An event as a line. */
export function wordsOf(event: EventOf<EventType>): string {
  const words: string[] = [wordOf(event)];
  for (const [name, value] of Object.entries(event)) {
    if (['type', 'name', 'at', 'key', 'owner', 'host'].includes(name)) continue;
    const isNumber = typeof value === 'number' && !Number.isInteger(value);
    words.push(`${name} ${value instanceof Error ? value.message : isNumber ? value.toFixed(1) : value}`);
  }
  return words.join(', ');
}
