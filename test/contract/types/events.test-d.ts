// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { expectTypeOf, test } from 'vitest';
import {
  type EventOf,
  type EventType,
  eventTypes,
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingValue,
  type TicklessEvent,
} from '../../../src/index.ts';

const value = new RefreshingValue({ name: 'v', load: async () => 1 });
const executor = new PeriodicExecutor(() => {}, { name: 'e' });

test('a listener gets the event of its type', () => {
  const unsubscribe = value.on('load-succeeded', (event) => {
    expectTypeOf(event).toEqualTypeOf<EventOf<'load-succeeded'>>();
    expectTypeOf(event.type).toEqualTypeOf<'load-succeeded'>();
    expectTypeOf(event.nextExecuteTime).toEqualTypeOf<number>();
    expectTypeOf(event.duration).toEqualTypeOf<number>();
    // @ts-expect-error: it has no error
    event.error;
  });
  expectTypeOf(unsubscribe).toEqualTypeOf<() => void>();
  executor.on('load-failed', ({ error, attempts, name, at }) => {
    expectTypeOf(error).toEqualTypeOf<Error>();
    expectTypeOf([attempts, at]).toEqualTypeOf<number[]>();
    expectTypeOf(name).toEqualTypeOf<string>();
  });
  // @ts-expect-error: an unknown event
  value.on('load-suceeded', () => {});
  // @ts-expect-error: the event of another type
  value.on('load-started', (event: EventOf<'too-stale'>) => event.age);
});

test('a listener of changed gets the type of the value', () => {
  value.on('changed', (event) => {
    expectTypeOf(event.value).toEqualTypeOf<number>();
    expectTypeOf(event.previous).toEqualTypeOf<number | undefined>();
  });
});

test('a listener may serve several types', () => {
  const log = (event: TicklessEvent): void => console.log(event.type, event.name);
  for (const type of eventTypes) value.on(type, log);
  value.on('load-kept' as 'load-kept' | 'load-succeeded', ({ nextExecuteTime }) => nextExecuteTime.toFixed());
});

test('an event narrows by its type', () => {
  const describe = (event: TicklessEvent): string => {
    // @ts-expect-error: not all events have it
    event.delay;
    if (event.type === 'cooling-down')
      return `${event.delay} ms after ${event.failures}: ${event.error.message}`;
    if ('age' in event) return `${event.age}`;
    return event.type;
  };
  expectTypeOf(describe).returns.toBeString();
});

/** Compiles only while it has a case for every event: a missing one is not assignable to never. */
function inWords(event: TicklessEvent): string {
  switch (event.type) {
    case 'load-started':
      return `started: ${event.trigger}`;
    case 'load-succeeded':
    case 'load-kept':
      return `ended after ${event.duration} ms, next ${event.nextExecuteTime}`;
    case 'try-failed':
      return `try ${event.attempt}: ${event.error.message}, again in ${event.pause} ms`;
    case 'load-failed':
    case 'load-timed-out':
      return `failed after ${event.attempts}: ${event.error.message}`;
    case 'value-rejected':
      return `${event.reason}: ${event.size} after ${event.previousSize}`;
    case 'late-result-dropped':
      return `late, in the background: ${event.background}`;
    case 'cooling-down':
      return `until ${event.until}`;
    case 'stale-served':
      return `${event.age} ms old`;
    case 'too-stale':
      return `${event.age} of ${event.maxStaleness} ms`;
    case 'lease-acquired':
    case 'took-over':
      return `token ${event.token}`;
    case 'lease-held-elsewhere':
    case 'round-done-elsewhere':
      return `${event.owner} on ${event.host}, again in ${event.retryAfter} ms`;
    case 'lease-lost':
    case 'lock-unavailable':
    case 'store-unavailable':
      return event.error.message;
    case 'lock-back':
    case 'store-back':
      return `after ${event.lasted} ms`;
    case 'snapshot-adopted':
    case 'published':
    case 'publish-refused':
      return `version ${event.version}`;
    case 'snapshot-rejected':
      return `version ${event.version}: ${event.error.message}`;
    case 'changed':
      return `${event.value} by ${event.cause}, version ${event.version}`;
    case 'evicted':
      return `key ${event.key}`;
    case 'paused':
    case 'resumed':
    case 'closed':
      return event.name;
    default:
      return event satisfies never;
  }
}

test('a listener of all events gets any of them', () => {
  value.on('*', (event) => expectTypeOf(event).toEqualTypeOf<TicklessEvent<number>>());
  new RefreshGroup().on('*', (event) => expectTypeOf(event).toEqualTypeOf<TicklessEvent>());
});

test('a switch over all events is exhaustive', () => {
  expectTypeOf(inWords).parameter(0).toEqualTypeOf<TicklessEvent>();
  expectTypeOf<TicklessEvent['type']>().toEqualTypeOf<EventType>();
  expectTypeOf<(typeof eventTypes)[number]>().toEqualTypeOf<EventType>();
});

test('the guards narrow an unknown error', () => {
  const detail = (error: unknown): number => {
    if (isTicklessError(error, 'COOLING_DOWN') || isTicklessError(error, 'ABSENT')) return error.retryAt;
    if (isTicklessError(error, 'TOO_STALE')) return error.age;
    if (isTicklessError(error, 'TIMED_OUT')) return error.attempts;
    if (isTicklessError(error)) return error.attempts ?? error.member.length;
    // @ts-expect-error: the error is unknown
    return error.retryAt;
  };
  expectTypeOf(detail).returns.toBeNumber();
  const code = (error: unknown) => (isTicklessError(error, 'LOAD_FAILED') ? error.code : undefined);
  expectTypeOf(code).returns.toEqualTypeOf<'LOAD_FAILED' | undefined>();
});
