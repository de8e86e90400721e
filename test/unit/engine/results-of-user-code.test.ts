import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { duringHours } from '../../../src/calendar/index.ts';
import { shownValue } from '../../../src/console/shown-value.ts';
import { changesAtMost, shrinksAtMost } from '../../../src/guards/index.ts';
import {
  absent,
  earliest,
  fixedDelay,
  httpFreshness,
  keep,
  loaded,
  lockedTask,
  probabilisticEarly,
  RefreshingCache,
  RefreshingValue,
  type ValueOptions,
  withJitter,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

/** What no function that must be synchronous may return. It is seen where its rejection is not handled. */
const failing = (): never => Promise.reject(new Error('nobody awaits this')) as never;
const foreign = (): never =>
  ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('nor this')) }) as never;

const quiet = { name: 'v', schedule: 1000, clock: new FakeClock(), logger: false, retry: false } as const;

async function readValue(options: Partial<ValueOptions<unknown>>): Promise<void> {
  const value = new RefreshingValue<unknown>({ ...quiet, load: () => [1], ...options });
  for (const read of [() => value.get(), () => value.refresh()]) await settled(read());
  value.inspect();
}

async function readKey(options: object): Promise<void> {
  const cache = new RefreshingCache<string, unknown>({ ...quiet, load: () => [1], ...options });
  await settled(Promise.resolve().then(() => cache.get('k')));
}

for (const [how, bad] of [['promise', failing] as const, ['thenable', foreign] as const]) {
  const cases: Record<string, () => unknown> = {
    initial: () => readValue({ initial: bad }),
    'the value of initial': () => readValue({ initial: () => ({ value: bad(), loadedAt: 0 }) }),
    schedule: () => readValue({ schedule: bad }),
    'a schedule object': () => readValue({ schedule: { nextExecuteTime: bad, maxStaleness: bad } }),
    'a schedule within others': () =>
      readValue({
        schedule: earliest(
          withJitter(bad, 10),
          duringHours(bad, { from: '00:00', to: '23:00', zone: 'utc' }),
          probabilisticEarly(bad),
        ),
      }),
    'accept, which may be asynchronous': () => readValue({ accept: bad }),
    'sizeOf of a guard': () => readValue({ accept: shrinksAtMost(0.5, { sizeOf: bad }) }),
    'idOf of a guard': () => readValue({ load: () => [{}], accept: changesAtMost(0.5, { idOf: bad }) }),
    sizeOf: () => readKey({ maxSize: 10, sizeOf: bad }),
    keyOf: () => readKey({ keyOf: bad }),
    load: () => readValue({ load: bad }),
    'the value that a load returns': () => readValue({ load: () => loaded(bad()) }),
    'a listener, a logger and waitUntil': () =>
      readValue({ load: failing, logger: { warn: bad, error: bad }, waitUntil: bad }),
    random: () => readValue({ load: failing, random: bad }),
    'now() and monotonic() of a clock': async () => {
      const clock = { now: bad, monotonic: bad, setTimeout: bad };
      expect(await rejectionOf(readValue({ clock }))).toMatchObject({
        message: expect.stringMatching(/must return milliseconds from now\(\).*from monotonic\(\)/),
      });
    },
    'toJSON of a key': () => {
      const lock = lockOf(memoryBackend());
      const cache = new RefreshingCache<object, number>({ ...quiet, load: () => 1, keyOf: () => 'k', lock });
      return settled(cache.get({ toJSON: bad }));
    },
    'toJSON of what showValue returns': () =>
      shownValue(1, {} as never, { showValue: () => ({ toJSON: bad }), redact: (text) => text }),
    'the predicate of invalidateWhere': () => {
      const cache = new RefreshingCache<string, number>({ ...quiet, load: () => 1 });
      cache.set('k', 1);
      expect(thrownBy(() => cache.invalidateWhere(bad))).toMatchObject(ofOption('predicate'));
      expect(cache.inspect('k')?.isStale).toBe(false);
    },
    'the name of a locked task': async () => {
      const task = lockedTask(() => 1, { name: bad, lock: lockOf(memoryBackend()) });
      for (const call of [task(), task.register()])
        expect(await rejectionOf(call)).toMatchObject(ofOption('name'));
    },
    'onError of getMany': async () => {
      const lines: unknown[][] = [];
      const logger = { warn: () => {}, error: (...line: unknown[]) => void lines.push(line) };
      const cache = new RefreshingCache<string, number>({ ...quiet, load: failing, logger });
      expect(await cache.getMany(['k', 'l'], { onError: bad })).toEqual(new Map());
      await new Promise((resolve) => setTimeout(resolve, 0));
      expect(String(lines[0])).toContain('onError of getMany rejected');
    },
    'get() of headers': () =>
      readValue({ load: () => loaded(1, { headers: { get: bad } }), schedule: httpFreshness() }),
    'toMillis of a duration': () =>
      expect(thrownBy(() => fixedDelay({ toMillis: bad }))).toMatchObject(ofOption('delay')),
    'an argument of set': () => {
      const value = new RefreshingValue<unknown>({ ...quiet, load: () => 1 });
      expect(thrownBy(() => value.set(bad()))).toMatchObject(ofOption('value'));
    },
  };
  for (const [what, use] of Object.entries(cases)) {
    it(`a rejected ${how} as the result of ${what} is no unhandled rejection`, async () => {
      const unhandled = unhandledRejections();
      await use();
      await new Promise((resolve) => setTimeout(resolve, 0)); // unhandled rejections are found after microtasks
      expect(unhandled).toEqual([]);
    });
  }
}

it('what only loads return is no value: set, initial and loaded refuse it', async () => {
  for (const answer of [keep(), loaded(1), absent()]) {
    const value = new RefreshingValue<unknown>({ ...quiet, load: () => 1 });
    const cache = new RefreshingCache<string, unknown>({ ...quiet, load: () => 1 });
    for (const set of [() => value.set(answer), () => cache.set('k', answer)]) {
      expect(thrownBy(set)).toMatchObject(ofOption('value'));
    }
    expect([value.peek(), cache.peek('k')]).toEqual([undefined, undefined]);
    const initial = { value: answer, loadedAt: 0 };
    const withInitial = () => new RefreshingValue<unknown>({ ...quiet, load: () => 1, initial });
    expect(thrownBy(withInitial)).toMatchObject(ofOption('initial'));
    const wrapped = new RefreshingValue<unknown>({ ...quiet, load: () => loaded(answer) });
    expect(await rejectionOf(wrapped.get())).toMatchObject({ code: 'LOAD_FAILED' });
  }
});
