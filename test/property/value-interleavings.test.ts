import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeClock } from '../../src/testing/index.ts';
import { type Held, type Parts, type Subject, subjectOfValue, subjectsOfCache } from './subjects.ts';

type Action = 'get' | 'get and drop' | 'refresh' | 'set' | 'invalidate' | 'delete';

const actions = fc.array(
  fc.record({
    do: fc.constantFrom<Action>(
      'get',
      'get',
      'get',
      'get and drop',
      'refresh',
      'set',
      'invalidate',
      'delete',
    ),
    which: fc.nat(1),
  }),
  { minLength: 1, maxLength: 16 },
);

const fates = fc.array(fc.constantFrom('value', 'value', 'value', 'reject', 'throw'), {
  minLength: 1,
  maxLength: 8,
});
const pauses = fc.array(fc.boolean(), { minLength: 1, maxLength: 16 });

/** One key as the model sees it. */
class Watched {
  /** How often it was outdated: by `set`, `invalidate`, `delete`. */
  epoch = 0;
  /** The epoch of the last `set` or `delete`: no result of a load begun before may be seen. */
  least = 0;
  refreshes = 0;
  calls = 0;
  readonly live: Set<AbortSignal> = new Set();

  get liveCount(): number {
    return [...this.live].filter(({ aborted }) => !aborted).length;
  }
}

/** Runs actions and ends of loads in an order that the scheduler picks, and checks after each. */
async function interleave(
  make: (parts: Parts) => Subject[],
  { seesSignals, evicts }: { seesSignals: boolean; evicts: boolean },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), actions, fates, pauses, async (scheduler, todo, ends, isPause) => {
      const clock = new FakeClock();
      const names = ['v', 'a', 'b'];
      const watched = new Map(names.map((name) => [name, new Watched()]));
      const watch = (key: string): Watched => watched.get(key) as Watched;
      const broken: string[] = []; // an error of a listener would only be logged
      const waits: { readonly what: string; isOver: boolean }[] = [];
      let loads = 0;

      const load = (key: string, signal: AbortSignal): Promise<Held> => {
        const of = watch(key);
        const brings = { key, epoch: of.epoch };
        const fate = ends[loads++ % ends.length];
        of.calls += 1;
        if (fate === 'throw') throw new Error('down at once');
        of.live.add(signal);
        const end = scheduler.schedule(Promise.resolve(), `load ${loads} of ${key}`).then(() => {
          of.live.delete(signal);
          if (fate === 'reject') throw new Error('down');
          return brings;
        });
        const aborted = new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
        return Promise.race([end, aborted]);
      };
      const landed = (key: string): void => {
        const held = subjectOf(key)?.peek();
        if (held !== undefined && held.epoch < watch(key).least)
          broken.push(`${key} took an outdated result`);
      };
      const subjects = make({ clock, load, landed });
      const keys = subjects.length === 1 ? ['v'] : ['a', 'b'];
      const subjectOf = (key: string): Subject | undefined => subjects[keys.indexOf(key)];

      /** A promise that must be settled in the end, and with nothing older than it may be. */
      const follow = (
        what: string,
        key: string,
        promise: Promise<Held>,
        least: number,
        same?: Held,
      ): void => {
        const wait = { what, isOver: false };
        waits.push(wait);
        promise.then(
          (got) => {
            wait.isOver = true;
            if (got.key !== key || got.epoch < least) broken.push(`${what} got an older one`);
            if (same !== undefined && got !== same) broken.push(`${what} did not get the value`);
          },
          () => {
            wait.isOver = true;
            if (same !== undefined) broken.push(`${what} was refused the value`);
          },
        );
      };
      const act = (action: Action, which: number): void => {
        const index = which % subjects.length;
        const [subject, key] = [subjects[index] as Subject, keys[index] as string];
        const of = watch(key);
        const held = subject.peek();
        switch (action) {
          case 'get':
            follow(`get of ${key}`, key, subject.get(), held === undefined ? of.epoch : of.least, held);
            break;
          case 'get and drop':
            void subject.get(); // vitest fails the run if it rejects unhandled
            break;
          case 'refresh':
            of.refreshes += 1;
            follow(`refresh of ${key}`, key, subject.refresh(), of.epoch);
            break;
          case 'set':
            of.epoch += 1;
            of.least = of.epoch;
            subject.set({ key, epoch: of.epoch });
            if (subject.peek()?.epoch !== of.epoch) broken.push(`${key} was not set`);
            break;
          case 'invalidate':
            of.epoch += 1;
            subject.invalidate();
            break;
          case 'delete':
            of.epoch += 1;
            of.least = of.epoch;
            subject.delete();
            if (subject.peek() !== undefined) broken.push(`${key} was not deleted`);
        }
      };
      const check = (isFlushed: boolean): void => {
        expect(broken).toEqual([]);
        keys.forEach((key, index) => {
          const [of, subject] = [watch(key), subjects[index] as Subject];
          const held = subject.peek();
          if (held !== undefined) expect(held.epoch).toBeGreaterThanOrEqual(of.least); // rule 7
          if (seesSignals) expect(of.liveCount).toBeLessThanOrEqual(1); // rule 1
          if (seesSignals && isFlushed) expect(subject.isRunning()).toBe(of.liveCount === 1); // rule 4
        });
      };

      for (const { do: action, which } of todo) {
        void scheduler.schedule(Promise.resolve(), action).then(() => act(action, which));
      }
      let turn = 0;
      while (scheduler.count() > 0) {
        await scheduler.waitOne();
        // With a pause all consequences have happened; without one the next event comes between them.
        const isFlushed = isPause[turn++ % isPause.length] as boolean;
        if (isFlushed || scheduler.count() === 0) await clock.flush();
        check(isFlushed);
      }
      expect(waits.filter(({ isOver }) => !isOver)).toEqual([]);
      expect(clock.timerCount).toBe(0);
      for (const key of keys) {
        const { calls, refreshes, epoch } = watch(key);
        // Rule 3: reads share a load; another one was asked for.
        if (!evicts) expect(calls).toBeLessThanOrEqual(1 + refreshes + epoch);
      }
    }),
    { numRuns: 500 },
  );
}

it('of a value: rules 1, 3, 4 and 7 hold in any order of calls and ends of loads, and no caller waits for ever', () =>
  interleave(subjectOfValue, { seesSignals: true, evicts: false }));

it('of the keys of a cache', () =>
  interleave(subjectsOfCache(2, false), { seesSignals: true, evicts: false }));

it('of the keys of a cache that evict each other', () =>
  interleave(subjectsOfCache(1, false), { seesSignals: true, evicts: true }));

it('of the keys of a cache with loadMany', () =>
  interleave(subjectsOfCache(2, true), { seesSignals: false, evicts: false }));
