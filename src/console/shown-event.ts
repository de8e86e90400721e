import type { TicklessEvent } from '../index.ts';
import { shownKey } from './member-access.ts';
import { shownText } from './redact.ts';
import { shortId } from './short-id.ts';

/** An event as operators see it: no value, no key longer than 200 characters. */
export interface ShownEvent {
  /** Grows by one with each event. */
  readonly number: number;
  /** The id of the member. */
  readonly id: string;
  readonly type: TicklessEvent['type'];
  /** Epoch milliseconds. */
  readonly at: number;
  readonly key?: string;
  /** Milliseconds, of the events of a load. */
  readonly duration?: number;
  readonly trigger?: string;
  readonly attempts?: number;
  readonly version?: number;
  readonly token?: number;
  /** Of events about another instance. */
  readonly host?: string;
  readonly error?: string;
}

/** In characters. */
const LONGEST_ERROR = 1000;

const FIELDS = ['duration', 'trigger', 'attempts', 'version', 'token', 'host'] as const;

export function shownEvent(event: TicklessEvent, number: number): ShownEvent {
  const details = event as unknown as Readonly<Record<string, unknown>>;
  const { key, error } = details;
  const shown = FIELDS.flatMap((field) => (details[field] === undefined ? [] : [[field, details[field]]]));
  return {
    number,
    id: shortId(event.name),
    type: event.type,
    at: event.at,
    ...Object.fromEntries(shown),
    ...(key === undefined ? {} : { key: shownKey(key).text }),
    ...(error instanceof Error ? { error: shownText(error.message, LONGEST_ERROR) } : {}),
  };
}
