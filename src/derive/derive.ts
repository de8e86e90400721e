import type { ReadOptions } from '../engine/reader.ts';
import { type Logger, SafeLogger } from '../observe/logger.ts';
import { isText, OptionChecks, ownOptions } from '../option-checks.ts';
import { printable } from '../printable.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { engineOf } from '../value/lifecycle.ts';
import { Derived, isValue, type NamedSource, ValueSource } from './derived.ts';

/** A source of a derived value: a `RefreshingValue`, a function made by `refreshing`, or another derived value; no object of your own. */
export interface Derivable<T> {
  get(options?: ReadOptions): Promise<T>;
  readonly current: T;
  peek(): T | undefined;
}

/** The values of sources. */
export type ValuesOf<S extends readonly Derivable<unknown>[]> = {
  -readonly [I in keyof S]: S[I] extends Derivable<infer T> ? T : never;
};

/** Of a default name, in characters. */
const LONGEST_NAME = 200;

/** How many derived values may follow one another. */
const MOST_DEEP = 100;

/** The options of {@link derive}; none is required. */
export interface DeriveOptions {
  /** The name in errors and log lines. Not empty. @default `derive(…)` with the names of the sources, each once, at most 200 characters */
  readonly name?: string | undefined;
  /**
   * Gets a line when the function begins to throw while an earlier result is served, at most one a minute, and one when it
   * is over. `false`: no lines. @default console
   */
  readonly logger?: Logger | false | undefined;
  /** The clock of ages; `FakeClock` of `tickless/testing` in tests. @default the one of the first source */
  readonly clock?: Clock | undefined;
}

/**
 * A value that follows from others: an index, a join, compiled rules. It is computed when it is read and a source has been
 * replaced since, at most once per version of the sources; `keep()` replaces nothing.
 *
 * ```ts
 * import { derive, RefreshingValue } from 'tickless';
 *
 * const cities = new RefreshingValue({ name: 'cities', load: async () => [{ code: '1012', name: 'Amsterdam' }] });
 * const byCode = derive(cities, (rows) => new Map(rows.map((row) => [row.code, row])));
 * console.log((await byCode.get()).get('1012')?.name); // Amsterdam
 * ```
 *
 * The function gets the values of the sources as its arguments, and must be synchronous and free of effects: it runs on the
 * stack of the read that finds a source replaced. If it throws, the last result stays and the error is logged; without one
 * the read gets a `LOAD_FAILED` error. It is not called again before a source is replaced. Equal values are replacements too.
 *
 * @param sources a `RefreshingValue`, a function without arguments made by `refreshing`, another derived value, or an array of them.
 *   Each `RefreshingValue` is read once by a read, in however many ways the result depends on it. At most 100 derived values
 *   may follow one another.
 * @throws {TicklessError} `OPTION` for anything else, for a 101st step, for an unknown option, and when `compute` is not a function.
 */
export function derive<T, R>(
  source: Derivable<T>,
  compute: (value: T) => R,
  options?: DeriveOptions,
): Derived<R>;
export function derive<const S extends readonly [Derivable<unknown>, ...Derivable<unknown>[]], R>(
  sources: S,
  compute: (...values: ValuesOf<S>) => R,
  options?: DeriveOptions,
): Derived<R>;
export function derive<R>(
  sources: Derivable<unknown> | readonly Derivable<unknown>[],
  compute: (...values: never[]) => R,
  options: DeriveOptions = {},
): Derived<R> {
  const given = Array.isArray(sources) ? (sources as readonly Derivable<unknown>[]) : [sources];
  const found = given.map(sourceOf);
  const names = new Set(found.map((source) => source?.name));
  const { name = printable(`derive(${[...names].join(', ')})`, LONGEST_NAME), logger = console } =
    ownOptions(options);
  const checks = new OptionChecks(isText(name) ? name : 'derive');
  checks.names('', options, ['name', 'logger', 'clock']);
  checks.name('name', name);
  const areSources = found.length > 0 && found.every((source) => source !== undefined);
  checks.that(areSources, 'sources', 'must be values, or values derived from values', sources);
  const depth = Math.max(0, ...found.map((source) => source?.depth ?? 0));
  const isDeep = `must follow from values through at most ${MOST_DEEP - 1} derived ones`;
  checks.that(depth < MOST_DEEP, 'sources', isDeep, depth);
  checks.function('compute', compute);
  if (logger !== false) checks.methods('logger', logger, ['warn', 'error']);
  const { clock = found[0]?.clock ?? systemClock } = ownOptions(options);
  checks.methods('clock', clock, ['now', 'monotonic']);
  checks.done();
  const all = found as NamedSource[];
  return new Derived({ name, sources: all, compute, clock, logger: new SafeLogger(name, logger) });
}

function sourceOf(given: unknown): NamedSource | undefined {
  const value = typeof given === 'function' && 'member' in given ? given.member : given;
  if (isValue(value)) {
    const { name, clock } = engineOf(value).options;
    const source = new ValueSource(value);
    return { source, name, clock, values: [source], derived: [], depth: 0 };
  }
  return given instanceof Derived ? Derived.sourceOf(given) : undefined;
}
