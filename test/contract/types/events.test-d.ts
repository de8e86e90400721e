// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { expectTypeOf, test } from 'vitest';
import {
  type EventOf,
  type EventType,
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingValue,
  type TicklessEvent,
} from '../../../src/index.ts';

const value = new RefreshingValue({ name: 'v', load: async () => 1 });
const executor = new PeriodicExecutor(() => {}, { name: 'e' });

test('a listener gets the event of its type', () => {
  const unsubscribe = value.on('load-ended', (event) => {
    expectTypeOf(event).toEqualTypeOf<EventOf<'load-ended'>>();
    expectTypeOf(event.type).toEqualTypeOf<'load-ended'>();
    expectTypeOf(event.nextExecuteTime).toEqualTypeOf<number | undefined>();
    expectTypeOf(event.took).toEqualTypeOf<number>();
    // @ts-expect-error: it has no host
    event.host;
  });
  expectTypeOf(unsubscribe).toEqualTypeOf<() => void>();
  executor.on('load-ended', ({ error, attempts, name, at }) => {
    expectTypeOf(error).toEqualTypeOf<Error | undefined>();
    expectTypeOf([attempts, at]).toEqualTypeOf<number[]>();
    expectTypeOf(name).toEqualTypeOf<string>();
  });
  // @ts-expect-error: an unknown event
  value.on('load-eneded', () => {});
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
  value.on('paused', log);
  value.on('paused' as 'paused' | 'resumed', ({ at }) => at.toFixed());
});

test('an event narrows by its type', () => {
  const describe = (event: TicklessEvent): string => {
    // @ts-expect-error: not all events have it
    event.delay;
    if (event.type === 'too-stale') return `${event.maxStaleness}`;
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
    case 'load-ended':
      return `${event.outcome} after ${event.took} ms, next ${event.nextExecuteTime}: ${event.error?.message}`;
    case 'stale-served':
      return `${event.age} ms old`;
    case 'too-stale':
      return `${event.age} of ${event.maxStaleness} ms`;
    case 'round':
      return `${event.outcome} with ${event.token}, by ${event.owner} on ${event.host}`;
    case 'backend-down':
      return `${event.backend}: ${event.error.message}`;
    case 'backend-up':
      return `${event.backend} after ${event.lasted} ms`;
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
