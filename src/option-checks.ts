import { OptionError, type OptionProblem } from './errors.ts';
import { type DurationLike, toMillis } from './time/duration.ts';

/** Collects the rules that options break, so that all of them are told at once. */
export class OptionChecks {
  readonly #cacheName: string;
  readonly #key: unknown;
  readonly #problems: OptionProblem[] = [];

  /** @param key the key that they are about, in a keyed cache. */
  constructor(cacheName: string, key?: unknown) {
    this.#cacheName = cacheName;
    this.#key = key;
  }

  /** @param rule ready to follow the name of the option: `must be …`. */
  that(holds: boolean, option: string, rule: string, received: unknown): void {
    if (!holds) this.#problems.push({ option, rule, received });
  }

  /** No name that there is not: a typo would silently mean the default. `undefined` is as good as not given. */
  names(prefix: string, given: object, known: readonly string[]): void {
    for (const [name, received] of Object.entries(given)) {
      const holds = known.includes(name) || received === undefined;
      this.that(holds, `${prefix}${name}`, `must not be given, only ${known.join(', ')}`, received);
    }
  }

  function(option: string, received: unknown): void {
    this.that(typeof received === 'function', option, 'must be a function', received);
  }

  methods(option: string, received: unknown, names: readonly string[]): void {
    const methods = received as Record<string, unknown> | null | undefined;
    const holds = names.every((name) => typeof methods?.[name] === 'function');
    this.that(holds, option, `must have the methods ${names.join(', ')}`, received);
  }

  /** A duration over 0, `Infinity` included, in milliseconds. */
  duration(option: string, received: DurationLike): number {
    const ms = toMillis(received);
    this.that(ms > 0, option, 'must be a duration over 0', received);
    return ms;
  }

  /** A duration from 0, `Infinity` included, in milliseconds. */
  durationFromZero(option: string, received: DurationLike): number {
    const ms = toMillis(received);
    this.that(ms >= 0, option, 'must be a duration of 0 or more', received);
    return ms;
  }

  /** A duration from 0 that ends, in milliseconds. */
  finiteDurationFromZero(option: string, received: DurationLike): number {
    const ms = toMillis(received);
    this.that(ms >= 0 && ms < Infinity, option, 'must be a finite duration of 0 or more', received);
    return ms;
  }

  /** A whole number from 1; `Infinity` where it may be. */
  count(option: string, received: unknown, most: number = Number.MAX_SAFE_INTEGER): void {
    const holds = isNumber(received, 1, most) && (Number.isInteger(received) || received === Infinity);
    const rule = `must be a whole number of 1 or more${most === Infinity ? ', or Infinity' : ''}`;
    this.that(holds, option, rule, received);
  }

  oneOf(option: string, received: unknown, allowed: readonly unknown[]): void {
    const shown = allowed.map((one) => (typeof one === 'string' ? `'${one}'` : String(one)));
    const rule = `must be ${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
    this.that(allowed.includes(received), option, rule, received);
  }

  /** A duration over 0 that ends, in milliseconds. */
  finiteDuration(option: string, received: DurationLike): number {
    const ms = toMillis(received);
    this.that(ms > 0 && ms < Infinity, option, 'must be a finite duration over 0', received);
    return ms;
  }

  /** @throws {OptionError} with all broken rules, if there are any. */
  done(): void {
    const [first, ...others] = this.#problems;
    const about = { cacheName: this.#cacheName, key: this.#key };
    if (first !== undefined) throw new OptionError([first, ...others], about);
  }
}

/** A number, not just something that compares like one. */
export function isNumber(received: unknown, least: number, most: number): boolean {
  return typeof received === 'number' && received >= least && received <= most;
}
