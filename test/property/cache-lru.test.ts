import fc from 'fast-check';
import { expect, it } from 'vitest';
import { absent, type KeyedAnswer, keep, RefreshingCache } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] as const;
type Key = (typeof KEYS)[number];

interface Held {
  readonly size: number;
}

/** What the source does during a step. */
type Source = 'has it' | 'fails' | 'has no such key' | 'says not modified';

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

const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.record({
    do: fc.oneof(
      {
        weight: 12,
        arbitrary: fc.constantFrom('get' as const, 'get' as const, 'current' as const, 'getMany' as const),
      },
      {
        weight: 8,
        arbitrary: fc.constantFrom('set' as const, 'refresh' as const, 'peek' as const, 'wait' as const),
      },
      { weight: 3, arbitrary: fc.constantFrom('delete' as const, 'invalidate' as const) },
      { weight: 1, arbitrary: fc.constant('clear' as const) },
    ),
    keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 5 }),
    size: fc.integer({ min: 1, max: 12 }),
    source: fc.oneof(
      { weight: 8, arbitrary: fc.constant('has it' as const) },
      fc.constantFrom('fails' as const, 'has no such key' as const, 'says not modified' as const),
    ),
  }),
  { maxLength: 80 },
);

interface Bound {
  readonly max?: number;
  readonly maxSize?: number;
}

/** The plain model: a `Map` whose order is that of use, and sums that are added up anew each time. */
class Model {
  readonly held: Map<Key, Held> = new Map();
  readonly #bound: Bound;

  constructor(bound: Bound) {
    this.#bound = bound;
  }

  /** A read. */
  use(key: Key): void {
    const value = this.held.get(key);
    if (value !== undefined) this.#toTheEnd(key, value);
  }

  /** A value that was loaded, or set. Only one that is new, or of another size, counts as used by that. */
  put(key: Key, value: Held): void {
    const { max = Infinity, maxSize = Infinity } = this.#bound;
    const before = this.held.get(key);
    if (before !== undefined && (maxSize === Infinity || before.size === value.size)) {
      this.held.set(key, value); // keeps its place
      return;
    }
    if (value.size > maxSize) {
      this.held.delete(key);
      return;
    }
    this.#toTheEnd(key, value);
    for (const oldest of this.held.keys()) {
      if (this.held.size <= max && this.sum <= maxSize) break;
      this.held.delete(oldest);
    }
  }

  get sum(): number {
    return [...this.held.values()].reduce((total, { size }) => total + size, 0);
  }

  #toTheEnd(key: Key, value: Held): void {
    this.held.delete(key);
    this.held.set(key, value);
  }
}

const bounds: Record<string, fc.Arbitrary<Bound>> = {
  max: fc.record({ max: fc.integer({ min: 1, max: 5 }) }),
  maxSize: fc.record({ maxSize: fc.integer({ min: 1, max: 30 }) }),
  'max and maxSize': fc.record({
    max: fc.integer({ min: 1, max: 5 }),
    maxSize: fc.integer({ min: 1, max: 30 }),
  }),
};

for (const [what, bound] of Object.entries(bounds)) {
  it(`with ${what}, holds what a plain model holds, in its order`, async () => {
    await fc.assert(
      fc.asyncProperty(commands, bound, async (steps, limits) => {
        const clock = new FakeClock();
        const model = new Model(limits);
        let source: Source = 'has it';
        let size = 1;
        /** What loads bring, in their order; the model takes it in when they have landed. */
        let landings: (() => void)[] = [];
        const load = async (key: Key): Promise<KeyedAnswer<Held>> => {
          const held = cache.peek(key);
          // It may be pushed out before its load has landed; then it takes a place again, whatever that brings.
          if (held !== undefined && (source === 'fails' || source === 'says not modified')) {
            landings.push(() => model.put(key, held));
          }
          if (source === 'fails') throw new Error('down');
          if (source === 'says not modified' && held !== undefined) return keep();
          if (source === 'has no such key') {
            landings.push(() => model.held.delete(key));
            return absent();
          }
          const value = { size };
          landings.push(() => model.put(key, value));
          return value;
        };
        const cache = new RefreshingCache<Key, Held>({
          name: 'c',
          load,
          schedule: 100,
          jitter: false,
          coolDown: 50,
          absentFor: 50,
          ...limits,
          ...(limits.maxSize === undefined ? {} : { sizeOf: (value: Held) => value.size }),
          clock,
          logger: false,
        });
        const run = (step: Command): void => {
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
            case 'refresh': // no read
              cache.refresh(key).catch(() => {});
              break;
            case 'peek':
              cache.peek(key);
              cache.inspect(key);
              break;
            case 'set': {
              const value = { size: step.size };
              model.put(key, value);
              cache.set(key, value);
              break;
            }
            case 'delete':
              expect(cache.delete(key)).toBe(model.held.delete(key));
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
          landings = [];
          run(step);
          await clock.advance(step.do === 'wait' ? 10 * step.size : 0);
          for (const land of landings) land();
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
