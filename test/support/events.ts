import type { EventOf, EventType, TicklessEvent } from '../../src/index.ts';

interface Observable {
  on<E extends EventType>(type: E, listener: (event: EventOf<E>) => void): () => void;
}

/** Of loads and rounds. Outages of backends and replacements of values have tests of their own. */
const RECORDED: readonly EventType[] = [
  'load-started',
  'load-ended',
  'stale-served',
  'too-stale',
  'evicted',
  'round',
  'paused',
  'resumed',
  'closed',
];

type Outcome = EventOf<'load-ended' | 'round'>['outcome'];

/** All events of loads and rounds from now on, in their order. `recordChanges` has the replacements of values. */
export function recordEvents(source: Observable): TicklessEvent[] {
  const events: TicklessEvent[] = [];
  for (const type of RECORDED) source.on(type, (event) => void events.push(event as TicklessEvent));
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

/** The story of a call, a word an event: of the ends of loads and the steps of rounds their outcomes, of others the type. */
export function wordsOf(events: readonly TicklessEvent[]): string[] {
  return events.map(wordOf);
}

export function wordOf(event: TicklessEvent): string {
  return event.type === 'load-ended' || event.type === 'round' ? event.outcome : event.type;
}

/** Finds the ends of loads, or the steps of rounds, with that outcome. */
export function isOutcome(outcome: Outcome): (event: TicklessEvent) => boolean {
  return (event) => wordOf(event) === outcome;
}

/** Listens to the ends of loads with one of these outcomes. */
export function onEnded(
  source: Observable,
  outcomes: EventOf<'load-ended'>['outcome'] | readonly EventOf<'load-ended'>['outcome'][],
  listener: (event: EventOf<'load-ended'>) => unknown,
): () => void {
  return source.on('load-ended', (event) => {
    if ([outcomes].flat().includes(event.outcome)) listener(event);
  });
}

/** Listens to the steps of rounds with that outcome. */
export function onRound(
  source: Observable,
  outcome: EventOf<'round'>['outcome'],
  listener: (event: EventOf<'round'>) => unknown,
): () => void {
  return source.on('round', (event) => {
    if (event.outcome === outcome) listener(event);
  });
}

/** Hears of each cool-down that a load begins, with its length in milliseconds. */
export function onCoolDown(source: Observable, listener: (delay: number) => unknown): () => void {
  return source.on('load-ended', ({ retryAt, at }) => {
    if (retryAt !== undefined) listener(retryAt - at);
  });
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
