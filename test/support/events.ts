import { type EventOf, type EventType, eventTypes, type TicklessEvent } from '../../src/index.ts';

interface Observable {
  on<E extends EventType>(type: E, listener: (event: EventOf<E>) => void): () => void;
}

/** Outages of backends and replacements of values have tests of their own. */
const LEFT_OUT: readonly EventType[] = [
  'changed',
  'lock-unavailable',
  'lock-back',
  'store-unavailable',
  'store-back',
];

/** All events of loads and rounds from now on, in their order. `recordChanges` has the replacements of values. */
export function recordEvents(source: Observable): TicklessEvent[] {
  const events: TicklessEvent[] = [];
  const types = eventTypes.filter((type) => !LEFT_OUT.includes(type));
  for (const type of types) source.on(type, (event) => void events.push(event as TicklessEvent));
  return events;
}

/** All replacements of values from now on, in their order. */
export function recordChanges(source: Observable): EventOf<'changed'>[] {
  const changes: EventOf<'changed'>[] = [];
  source.on('changed', (event) => {
    const previous = 'previous' in event ? { previous: event.previous } : {};
    changes.push({ ...event, value: event.value, ...previous });
  });
  return changes;
}

/** The story of a call: the types in their order. */
export function typesOf(events: readonly TicklessEvent[]): EventType[] {
  return events.map(({ type }) => type);
}

/** A logger that keeps its lines. */
export function recordLines(): { warn(line: string): void; error(line: string): void; lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    warn: (line) => void lines.push(`warn ${line}`),
    error: (line) => void lines.push(`error ${line}`),
  };
}
