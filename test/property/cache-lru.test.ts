import fc from 'fast-check';
import { expect, it } from 'vitest';
import { absent, type KeyedLoadReturn, keep, RefreshingCache } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { unspread } from '../support/unspread.ts';
import { doing } from './commands.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] as const;
type Key = (typeof KEYS)[number];

interface Held {
  readonly size: number;
}

/** The answer of the source during a step. */
type Source = 'value' | 'error' | 'absent' | 'not modified';

interface Command {
  readonly do:
    | 'get'
    | 'current'
    | 'getMany'
    | 'refresh'
    | 'peek'
    | 'set'
    | 'delete'
    | 'invalidate'
    | 'clear'
    | 'wait';
  /** The first one, where the command takes one. */
  readonly keys: readonly Key[];
  readonly size: number;
  readonly source: Source;
}

const args = {
  keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 5 }),
  size: fc.integer({ min: 1, max: 12 }),
  source: fc.oneof(
    { weight: 8, arbitrary: fc.constant('value') },
    fc.constantFrom('error', 'absent', 'not modified'),
  ),
};
const of = doing<Command>;
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    of(12, ['get', 'get', 'current', 'getMany'], args),
    of(8, ['set', 'refresh', 'peek', 'wait'], args),
    of(3, ['delete', 'invalidate'], args),
    of(1, ['clear'], args),
  ),
  { maxLength: 80 },
);

interface Bound {
  readonly max?: number;
  readonly maxSize?: number;
}

/** The model: a `Map` in the order of use, whose sizes are added up each time. */
class Model {
  readonly held: Map<Key, Held> = new Map();
  readonly #bound: Bound;

  constructor(bound: Bound) {
    this.#bound = bound;
  }

  /** A read. */
  use(key: Key): void {
    const value = this.held.get(key);
    if (value !== undefined) this.#moveToEnd(key, value);
  }

  /** A value was loaded or set. Only a new one, or one of another size, counts as used by that. */
  put(key: Key, value: Held): void {
    const { max = Infinity, maxSize = Infinity } = this.#bound;
    const before = this.held.get(key);
    if (value.size > maxSize) return; // refused
    if (before !== undefined && (maxSize === Infinity || before.size === value.size)) {
      this.held.set(key, value); // keeps its place
      return;
    }
    this.#moveToEnd(key, value);
    for (const oldest of this.held.keys()) {
      if (this.held.size <= max && this.sum <= maxSize) break;
      this.held.delete(oldest);
    }
  }

  get sum(): number {
    return [...this.held.values()].reduce((total, { size }) => total + size, 0);
  }

  #moveToEnd(key: Key, value: Held): void {
    this.held.delete(key);
    this.held.set(key, value);
  }
}

const max = fc.integer({ min: 1, max: 5 });
const maxSize = fc.integer({ min: 1, max: 30 });
const bounds: Record<string, fc.Arbitrary<Bound>> = {
  max: fc.record({ max }),
  maxSize: fc.record({ maxSize }),
  'max and maxSize': fc.record({ max, maxSize }),
};

for (const [what, bound] of Object.entries(bounds)) {
  it(`with ${what}, holds the same values as a simple model, in the same order`, async () => {
    await fc.assert(
      fc.asyncProperty(commands, bound, async (steps, limits) => {
        const clock = new FakeClock();
        const model = new Model(limits);
        let source: Source = 'value';
        let size = 1;
        /** The results of loads in their order, which the model gets once they have settled. */
        let results: (() => void)[] = [];
        const load = async (key: Key): Promise<KeyedLoadReturn<Held>> => {
          const held = cache.peek(key);
          // It may be evicted before its load has settled; then it takes a place again, whatever the result.
          if (held !== undefined && (source === 'error' || source === 'not modified')) {
            results.push(() => model.put(key, held));
          }
          if (source === 'error') throw new Error('down');
          if (source === 'not modified' && held !== undefined) return keep();
          if (source === 'absent') {
            results.push(() => model.held.delete(key));
            return absent();
          }
          const value = { size };
          const isRefused = size > (limits.maxSize ?? Infinity);
          results.push(() => model.put(key, isRefused && held !== undefined ? held : value));
          return value;
        };
        const cache = new RefreshingCache<Key, Held>({
          retry: false,
          name: 'c',
          load,
          schedule: 100,
          random: unspread,
          coolDown: 50,
          absentFor: 50,
          ...limits,
          ...(limits.maxSize === undefined ? {} : { sizeOf: (value: Held) => value.size }),
          clock,
          logger: false,
        });
        const run = async (step: Command): Promise<void> => {
          const key = step.keys[0] as Key;
          switch (step.do) {
            case 'get':
              model.use(key);
              cache.get(key).catch(() => {});
              break;
            case 'current':
              model.use(key);
              try {
                cache.current(key);
              } catch {
                // not loaded yet
              }
              break;
            case 'getMany':
              for (const one of step.keys) model.use(one);
              cache.getMany(step.keys, { onError: () => {} }).catch(() => {});
              break;
            case 'refresh': // not a read
              cache.refresh(key).catch(() => {});
              break;
            case 'peek':
              cache.peek(key);
              cache.inspect(key);
              break;
            case 'set': {
              const value = { size: step.size };
              model.put(key, value);
              if (value.size <= (limits.maxSize ?? Infinity)) cache.set(key, value);
              else expect(() => cache.set(key, value)).toThrow('maxSize');
              break;
            }
            case 'delete':
              expect(await cache.delete(key)).toBe(model.held.delete(key));
              break;
            case 'invalidate':
              cache.invalidate(key);
              break;
            case 'clear':
              model.held.clear();
              cache.clear();
              break;
            case 'wait':
              break;
          }
        };
        for (const step of steps) {
          ({ source, size } = step);
          results = [];
          const answered = run(step);
          await clock.advance(step.do === 'wait' ? 10 * step.size : 0);
          await answered;
          for (const apply of results) apply();
          expect([...cache.keys()]).toEqual([...model.held.keys()]);
          expect(cache.size).toBe(model.held.size);
          for (const key of KEYS) expect(cache.peek(key)).toBe(model.held.get(key));
          expect(cache.size).toBeLessThanOrEqual(limits.max ?? Infinity);
          expect(model.sum).toBeLessThanOrEqual(limits.maxSize ?? Infinity);
        }
        expect(clock.timerCount).toBe(0);
      }),
      { numRuns: 400 },
    );
  });
}
