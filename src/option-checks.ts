import { durationHint, nameHere } from './name-hints.ts';
import { type OptionProblem, optionError } from './option-error.ts';
import { ignoreThenable } from './time/deferred.ts';
import { type DurationLike, toMillis } from './time/duration.ts';
import { showDuration } from './time/show-duration.ts';

/** Collects the rules that options break, so that one error reports all of them. */
export class OptionChecks {
  readonly #member: string;
  readonly #key: unknown;
  readonly #problems: OptionProblem[] = [];

  /** @param key the key that the options are about, in a keyed cache. */
  constructor(member: string, key?: unknown) {
    this.#member = member;
    this.#key = key;
  }

  /** @param rule ready to follow the name of the option: `must be …`. */
  that(holds: boolean, option: string, rule: string, received: unknown): void {
    if (!holds) this.#problems.push({ option, rule, received });
  }

  /** Rejects unknown option names, so that a typo never means the default. `undefined` counts as not given. */
  names(prefix: string, given: object, known: readonly string[]): void {
    if (!areOptions(given)) {
      this.that(false, prefix.slice(0, -1) || 'options', 'must be an object', given);
      return;
    }
    let others = ` (expected one of: ${known.join(', ')})`;
    for (const [name, received] of Object.entries(given)) {
      const holds = known.includes(name) || received === undefined;
      if (holds) continue;
      const similar = known.find((one) => isSimilar(one, name)) ?? known.find((one) => isLonger(one, name));
      const here = nameHere(name, known);
      let rule = `is unknown${others}`;
      if (here !== undefined) rule = `is ${prefix}${here} here`;
      else if (similar !== undefined) rule = `is unknown (did you mean ${prefix}${similar}?)`;
      else others = ''; // they are named once
      this.that(false, `${prefix}${name}`, rule, received);
    }
  }

  function(option: string, received: unknown): void {
    const hint = ignoreThenable(received) instanceof Promise ? ' that returns the promise' : '';
    this.that(typeof received === 'function', option, `must be a function${hint}`, received);
  }

  methods(option: string, received: unknown, names: readonly string[]): void {
    const methods = received as Record<string, unknown> | null | undefined;
    const holds = names.every((name) => typeof methods?.[name] === 'function');
    this.that(holds, option, `must have the methods ${names.join(', ')}`, received);
  }

  /** A duration over 0, `Infinity` included, in milliseconds. */
  duration(option: string, received: DurationLike): number {
    const ms = toMillis(received);
    this.that(ms > 0, option, `must be a duration over 0${durationHint(received)}`, received);
    return ms;
  }

  /** A duration from 0, `Infinity` included, in milliseconds. */
  durationFromZero(option: string, received: DurationLike): number {
    const ms = toMillis(received);
    this.that(ms >= 0, option, `must be a duration of 0 or more${durationHint(received)}`, received);
    return ms;
  }

  /** A finite duration from 0, in milliseconds. */
  finiteDurationFromZero(option: string, received: DurationLike, longestMs: number = Infinity): number {
    const ms = toMillis(received);
    this.that(ms >= 0 && ms < Infinity, option, 'must be a finite duration of 0 or more', received);
    this.#atMost(longestMs, ms, option, received);
    return ms;
  }

  /** A whole number from 1; `Infinity` if `most` is. */
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

  /** A finite duration over 0, in milliseconds. */
  finiteDuration(option: string, received: DurationLike, longestMs: number = Infinity): number {
    const ms = toMillis(received);
    this.that(ms > 0 && ms < Infinity, option, 'must be a finite duration over 0', received);
    this.#atMost(longestMs, ms, option, received);
    return ms;
  }

  #atMost(longestMs: number, ms: number, option: string, received: DurationLike): void {
    const holds = ms <= longestMs || !(ms < Infinity); // reported already
    this.that(holds, option, `must not be longer than ${showDuration(longestMs)}`, received);
  }

  /** A text that is not empty, and that every backend stores as it is. */
  name(option: string, received: unknown): void {
    this.that(isText(received), option, 'must be a string that is not empty', received);
    this.storable(option, received);
  }

  /** If it is a text, every backend stores it as it is, and keeps it apart from all others. */
  storable(option: string, received: unknown): void {
    if (typeof received !== 'string') return;
    this.that(!received.includes('\0'), option, 'must not contain U+0000', received);
    const rule = 'must be well-formed Unicode, without half of a surrogate pair';
    this.that(!/\p{Surrogate}/u.test(received), option, rule, received);
  }

  /** @throws {TicklessError} `OPTION` with all broken rules, if there are any. */
  done(): void {
    if (this.#problems.length === 0) return;
    throw optionError(this.#problems, { member: this.#member, key: this.#key });
  }
}

/**
 * Makes one check.
 *
 * @returns its result.
 * @throws {TicklessError} `OPTION` when it finds a broken rule.
 */
export function checked<R>(member: string, check: (checks: OptionChecks) => R, key?: unknown): R {
  const checks = new OptionChecks(member, key);
  const result = check(checks);
  checks.done();
  return result;
}

/**
 * The own properties of options, and of those only: a property of `Object.prototype` that a bug elsewhere has set does not count.
 *
 * @returns an object without a prototype; anything but an object as it is.
 */
export function ownOptions<T>(given: T): T {
  if (!areOptions(given) && !Array.isArray(given)) return given; // a copy of a Date would be an object without options
  return Object.assign(Object.create(null), given);
}

/** An object with named options; not a list, a `Map`, a `Date` or another thing that has none. */
function areOptions(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  return !(
    Symbol.iterator in given ||
    given instanceof Date ||
    given instanceof RegExp ||
    given instanceof Promise
  );
}

/** @throws {TicklessError} `OPTION` when options are given that are not an object. `undefined` and `null` count as none. */
export function optionsArgument(member: string, given: unknown): void {
  if (given === undefined || given === null) return;
  checked(member, (checks) => checks.that(areOptions(given), 'options', 'must be an object', given));
}

export function isText(received: unknown): received is string {
  return typeof received === 'string' && received !== '';
}

/** A number, not just something that compares like one. */
export function isNumber(received: unknown, least: number, most: number): boolean {
  return typeof received === 'number' && received >= least && received <= most;
}

/** Checks a number from `least`; `Infinity` is one if `most` is. No method: few bundles need it. */
export function checkNumber(
  checks: OptionChecks,
  option: string,
  received: unknown,
  least: number,
  most: number = Number.MAX_VALUE,
): void {
  const rule = `must be a ${most < Infinity ? 'finite ' : ''}number of ${least} or more`;
  checks.that(isNumber(received, least, most), option, rule, received);
}

/** The one begins or ends with the other: `timezone` and `zone`, `timeoutMs` and `timeout`. */
function isLonger(known: string, given: string): boolean {
  const [one, other] = [known.toLowerCase(), given.toLowerCase()];
  const contains = (long: string, short: string): boolean =>
    short.length >= 4 && (long.startsWith(short) || long.endsWith(short));
  return contains(one, other) || contains(other, one);
}

/** They differ by a case, or by one character that is missing, added, changed or swapped with its neighbour. */
function isSimilar(known: string, given: string): boolean {
  const shortened = shorten(given);
  return shorten(known).some((text) => shortened.includes(text));
}

/** The text in lower case, as it is and without each of its characters. */
function shorten(text: string): string[] {
  const lower = text.toLowerCase();
  return [lower, ...Array.from(lower, (_, index) => lower.slice(0, index) + lower.slice(index + 1))];
}

/**
 * Checks a duration given to a method.
 *
 * @returns milliseconds.
 * @throws {TicklessError} `OPTION` when it is not a duration of 0 or more.
 */
export function durationArgument(member: string, option: string, received: DurationLike): number {
  return checked(member, (checks) => checks.durationFromZero(option, received));
}

/**
 * Checks the names of the options given to a method. `undefined` and `null` count as none.
 *
 * @throws {TicklessError} `OPTION` for a name that is not among them, unless its value is `undefined`.
 */
export function namesArgument(
  member: string,
  given: object | null | undefined,
  known: readonly string[],
): void {
  if (given === undefined || given === null) return;
  checked(member, (checks) => checks.names('', given, known));
}

/**
 * Checks a signal given to a method. `undefined` is allowed.
 *
 * @throws {TicklessError} `OPTION` when it is not an `AbortSignal`.
 */
export function signalArgument(member: string, received: AbortSignal | undefined): void {
  if (received === undefined) return;
  checked(member, (checks) => checks.methods('signal', received, ['addEventListener', 'throwIfAborted']));
}

/**
 * Checks the names given to a step for several of them.
 *
 * @param about the subject of the error: 'lock' or 'store'.
 * @throws {TicklessError} `OPTION` when a name occurs twice.
 */
export function distinctNames(about: string, names: readonly string[]): void {
  const seen: Set<string> = new Set();
  const twice = names.find((name) => seen.has(name) || !seen.add(name));
  checked(about, (checks) => checks.that(twice === undefined, 'name', 'must not occur twice', twice));
}
