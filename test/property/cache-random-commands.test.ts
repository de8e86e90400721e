import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  absent,
  type KeyContext,
  type KeyedLoadReturn,
  loaded,
  RefreshingCache,
  type TicklessError,
} from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { settled } from '../support/settle.ts';
import { unspread } from '../support/unspread.ts';
import { doing } from './commands.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e'] as const;
type Key = (typeof KEYS)[number];

/** A value of the cache: its key, and how many steps had outdated that key before its load began. */
interface Held {
  readonly key: Key;
  readonly version: number;
}

type Command =
  | {
      readonly do: 'get' | 'current' | 'set' | 'delete' | 'invalidate' | 'drop' | 'refresh';
      readonly key: Key;
    }
  | { readonly do: 'getMany'; readonly keys: readonly Key[] }
  | { readonly do: 'clear' | 'invalidateAll' | 'invalidateWhere' }
  | { readonly do: 'invalidateTag'; readonly tag: string }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'source'; readonly is: 'up' | 'down' | 'without the key' }
  | { readonly do: 'end'; readonly which: number };

/** A command, and when the next one comes: most of them when all has happened that it leads to. */
type Step = Command & { readonly next: 'later' | 'in a microtask' | 'at once' };

// One of them is used most: what happens to a key depends on its last few steps.
const key = fc.oneof({ weight: 3, arbitrary: fc.constant<Key>('a') }, fc.constantFrom(...KEYS));

const of = doing<Command>;
const command: fc.Arbitrary<Command> = fc.oneof(
  of(8, ['get', 'current'], { key }),
  of(4, ['set', 'delete', 'invalidate', 'drop', 'refresh', 'refresh'], { key }),
  of(2, ['getMany'], { keys: fc.array(key, { maxLength: 6 }) }),
  of(1, ['clear', 'invalidateAll', 'invalidateWhere']),
  of(2, ['invalidateTag'], { tag: fc.constantFrom('vowel', 'all', 'none') }),
  of(4, ['advance'], { ms: fc.constantFrom(0, 40, 100, 150, 1000) }),
  of(2, ['source'], { is: fc.constantFrom('up', 'up', 'down', 'without the key') }),
  of(7, ['end'], { which: fc.nat(20) }),
);

const commands: fc.Arbitrary<Step[]> = fc.array(
  fc
    .tuple(command, fc.constantFrom<Step['next'][]>('later', 'later', 'later', 'in a microtask', 'at once'))
    .map(([one, next]) => ({ ...one, next })),
  { maxLength: 60 },
);

const isVowel = (one: Key): boolean => one === 'a' || one === 'e';

/** One load under way. */
interface Live {
  readonly key: Key;
  readonly version: number;
  readonly signal: AbortSignal;
  resolve(answer: KeyedLoadReturn<Held>): void;
  reject(error: unknown): void;
}

/** The errors of reads and refreshes, each about the key of the call. */
const FAILURES = ['LOAD_FAILED', 'TIMED_OUT', 'COOLING_DOWN', 'ABSENT'];

for (const many of [false, true]) {
  it(`with ${many ? 'loadMany' : 'load'}, the rules hold for each key after any commands in any order`, async () => {
    await fc.assert(
      fc.asyncProperty(commands, fc.integer({ min: 1, max: 3 }), async (steps, max) => {
        const clock = new FakeClock();
        const lives: Live[] = [];
        let source: 'up' | 'down' | 'without the key' = 'up';
        // The model: how many steps have outdated the key, and its newest version that a read has found.
        const version = new Map<Key, number>(KEYS.map((one) => [one, 0]));
        const seen = new Map<Key, number>(KEYS.map((one) => [one, 0]));
        const now = (one: Key): number => version.get(one) as number;
        const outdate = (which: (one: Key) => boolean): void => {
          for (const one of KEYS) if (which(one)) version.set(one, now(one) + 1);
        };
        const load = (
          one: Key,
          { signal }: Pick<KeyContext<Key>, 'signal'>,
        ): Promise<KeyedLoadReturn<Held>> =>
          new Promise((resolve, reject) => {
            lives.push({ key: one, version: now(one), signal, resolve, reject });
            if (!many) signal.addEventListener('abort', () => reject(signal.reason));
          });
        // A batch returns promises here, so that each of its keys ends by itself.
        const loadMany = async (keys: readonly Key[]): Promise<never> => {
          const signals = keys.map((one) => [one, load(one, { signal: signalOf(one) })] as const);
          return new Map(signals) as never;
        };
        const superseded = new Map<Key, AbortController>();
        const signalOf = (one: Key): AbortSignal => {
          superseded.get(one)?.abort();
          const controller = new AbortController();
          superseded.set(one, controller);
          return controller.signal;
        };
        const cache = new RefreshingCache<Key, Held>({
          retry: false,
          name: 'c',
          ...(many ? { loadMany } : { load }),
          schedule: 100,
          timeout: 1000,
          coolDown: { initial: 50, max: 400 },
          absentFor: 120,
          max,
          random: unspread,
          clock,
          logger: false,
        });
        const waits: Promise<unknown>[] = [];
        const check = (one: Key, got: Held | undefined, least = 0): void => {
          if (got === undefined) return;
          expect(got.key).toBe(one);
          expect(got.version).toBeLessThanOrEqual(now(one));
          expect(got.version).toBeGreaterThanOrEqual(least);
        };
        const follow = (one: Key, promise: Promise<Held>, least: number): void => {
          const checked = promise.then(
            (got) => check(one, got, least),
            (error: TicklessError) => {
              expect(FAILURES).toContain(error.code);
              expect(error.key).toBe(one);
            },
          );
          checked.catch(() => {}); // reported at the end, when all are awaited
          waits.push(checked);
        };
        const end = (live: Live): void => {
          lives.splice(lives.indexOf(live), 1);
          if (source === 'down') live.reject(new Error('down'));
          else if (source === 'without the key') live.resolve(absent());
          else {
            const tags = isVowel(live.key) ? ['vowel', 'all'] : ['all'];
            live.resolve(loaded({ key: live.key, version: live.version }, { tags }));
          }
        };
        const run = async (step: Command): Promise<void> => {
          switch (step.do) {
            case 'get': {
              const held = cache.peek(step.key);
              const promise = cache.get(step.key);
              // A read without a value waits for one that is not older than the read.
              follow(step.key, promise, held === undefined ? now(step.key) : 0);
              if (held !== undefined) expect(await settled(promise)).toEqual({ value: held });
              break;
            }
            case 'current': {
              const held = cache.peek(step.key);
              try {
                expect(cache.current(step.key)).toBe(held);
              } catch (error) {
                expect(held).toBeUndefined();
                expect(error).toMatchObject({
                  code: expect.stringMatching(/^(NOT_LOADED|ABSENT)$/),
                  key: step.key,
                });
              }
              break;
            }
            case 'refresh':
              follow(step.key, cache.refresh(step.key), now(step.key));
              break;
            case 'getMany': {
              const asked = new Map(
                step.keys.map((one) => [one, cache.peek(one) === undefined ? now(one) : 0]),
              );
              const many = cache.getMany(step.keys, {
                onError: (error) => expect(FAILURES).toContain((error as TicklessError).code),
              });
              const checked = many.then((found) => {
                expect([...asked.keys()].filter((one) => found.has(one))).toEqual([...found.keys()]);
                for (const [one, got] of found) check(one, got, asked.get(one));
              });
              checked.catch(() => {});
              waits.push(checked);
              break;
            }
            case 'set':
              outdate((one) => one === step.key);
              cache.set(step.key, { key: step.key, version: now(step.key) });
              expect(cache.peek(step.key)?.version).toBe(now(step.key));
              break;
            case 'delete':
            case 'drop': {
              outdate((one) => one === step.key);
              const had = cache.peek(step.key) !== undefined;
              const deleted = step.do === 'delete' ? cache.delete(step.key) : had;
              if (step.do === 'drop') cache.invalidate(step.key, { drop: true });
              expect(cache.peek(step.key)).toBeUndefined();
              expect(await deleted).toBe(had);
              break;
            }
            case 'invalidate':
              outdate((one) => one === step.key);
              cache.invalidate(step.key);
              break;
            case 'clear':
            case 'invalidateAll':
              outdate(() => true);
              if (step.do === 'clear') cache.clear();
              else cache.invalidate();
              if (step.do === 'clear') expect(cache.size).toBe(0);
              break;
            case 'invalidateWhere':
              outdate(isVowel);
              cache.invalidateWhere(isVowel);
              break;
            case 'invalidateTag':
              outdate((one) => step.tag === 'all' || (step.tag === 'vowel' && isVowel(one)));
              cache.invalidateTag(step.tag);
              break;
            case 'advance':
              await clock.advance(step.ms);
              break;
            case 'source':
              source = step.is;
              break;
            case 'end': {
              const live = lives.at(step.which % Math.max(1, lives.length));
              if (live !== undefined) end(live);
            }
          }
        };
        for (const step of steps) {
          await run(step);
          if (step.next === 'in a microtask') for (let i = 0; i < 10; i++) await undefined;
          if (step.next !== 'later') continue;
          await clock.flush();
          const held = [...cache.keys()];
          expect(held.length).toBe(cache.size);
          expect(cache.size).toBeLessThanOrEqual(max);
          for (const one of KEYS) {
            const value = cache.peek(one);
            check(one, value);
            if (held.includes(one)) expect(value).toBeDefined();
            // Rule 7: nothing goes back, also over deletion and eviction.
            if (value !== undefined) {
              expect(value.version).toBeGreaterThanOrEqual(seen.get(one) as number);
              seen.set(one, value.version);
            }
          }
          let running = 0;
          for (const one of KEYS) {
            const liveOfKey = lives.filter((live) => live.key === one && !live.signal.aborted);
            // Rule 1, and rule 4: `running` is true while there is one.
            if (!many) {
              expect(liveOfKey.length).toBeLessThanOrEqual(1);
              expect(cache.inspect(one)?.running ?? false).toBe(liveOfKey.length === 1);
            }
            if (cache.inspect(one)?.running) running += 1;
          }
          // Rule 8
          if (running === 0) expect(clock.timerCount).toBe(0);
        }
        // No read waits for ever: all deadlines have passed by then.
        for (let i = 0; i < 4; i++) await clock.advance(1000);
        expect(KEYS.filter((one) => cache.inspect(one)?.running)).toEqual([]);
        expect(clock.timerCount).toBe(0);
        await Promise.all(waits);
      }),
      { numRuns: 500 },
    );
  });
}
