import { isMeta, META_RULE, type ValueMeta } from '../data/value-meta.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { isLimitScheduled } from '../engine/next-execution.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { putRestored, type RestoredValue } from '../engine/restored-value.ts';
import { schemaArgument } from '../guard/schema-argument.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber, OptionChecks } from '../option-checks.ts';
import { areStoredHeaders, storedHeaders } from '../schedule/stored-headers.ts';
import { isThenable } from '../time/deferred.ts';

/** One value of a dump. */
export interface DumpedValue<T> {
  readonly value: T;
  /** Its age in milliseconds when it was dumped. */
  readonly age: number;
  /** When it is due, in epoch milliseconds; `null`: never by itself. */
  readonly nextExecuteTime: number | null;
  /** Its age limit in milliseconds, where that is not the one of the option; `null`: none. */
  readonly maxStaleness?: number | null | undefined;
  /** `maxStaleness` is the answer of the schedule, and not of the load. @default false */
  readonly isLimitScheduled?: boolean | undefined;
  /** The `meta` of its load; left out: none. */
  readonly meta?: ValueMeta | undefined;
  /** The headers of its response that say how long it is fresh, by their names in lower case; left out: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Values for a warm start: plain data, which JSON, `structuredClone` and `v8.serialize` can encode if they can encode
 * the values.
 */
export interface Dump<E> {
  /** The version of this format. */
  readonly version: 1;
  /** The `name` of the value or cache. */
  readonly name: string;
  /** When it was made, in epoch milliseconds. */
  readonly at: number;
  readonly entries: readonly E[];
}

/** The dump of a `RefreshingValue`: one entry, none before its first success. */
export type ValueDump<T> = Dump<DumpedValue<T>>;

/** The result of `restore`. */
export interface RestoreReport {
  /** How many values are in place now. */
  readonly restored: number;
  /** How many were left out: older than `maxStaleness` or than the value that is held, larger than `maxSize`, or too many. */
  readonly dropped: number;
}

/** Dumps entries that have a value. @param more of each entry, beside its value and its times. */
export function dumpOf<E extends Entry<unknown>, More extends object>(
  entries: Iterable<E>,
  { name, clock, maxStalenessMs: usual }: ResolvedOptions,
  more: (entry: E) => More,
): Dump<DumpedValue<unknown> & More> {
  const now = clock.monotonic();
  const at = clock.now();
  const dumped = Array.from(entries, (entry) => {
    const { value, maxStalenessMs, isInvalidated, nextExecuteTime, last } = entry;
    const headers = storedHeaders(last?.headers);
    return {
      value,
      age: Math.max(0, now - entry.loadedAt),
      nextExecuteTime: isInvalidated ? at : orNull(nextExecuteTime),
      ...(maxStalenessMs === usual ? {} : { maxStaleness: orNull(maxStalenessMs) }),
      ...(maxStalenessMs !== usual && isLimitScheduled(entry) ? { isLimitScheduled: true } : {}),
      ...(last?.meta === undefined ? {} : { meta: last.meta }),
      ...(headers === undefined ? {} : { headers }),
      ...more(entry),
    };
  });
  return { version: 1, name, at, entries: dumped };
}

function orNull(number: number): number | null {
  return number === Infinity ? null : number;
}

/** A dump that is read: its envelope is sound. */
export class DumpReader<E extends Partial<DumpedValue<unknown>>> {
  readonly checks: OptionChecks;
  readonly #entries: readonly E[];
  readonly #options: ResolvedOptions;
  /** By the wall clock; one that was set back adds nothing. */
  readonly #sinceMs: number;

  /** @throws {OptionError} when it is not a dump. */
  constructor(dump: Dump<E>, options: ResolvedOptions) {
    this.checks = new OptionChecks(options.name);
    const isDump =
      dump?.version === 1 && isNumber(dump.at, 0, Number.MAX_VALUE) && Array.isArray(dump.entries);
    this.checks.that(isDump, 'dump', 'must be what dump() returned, of version 1', dump);
    this.checks.done();
    this.#entries = dump.entries;
    this.#options = options;
    this.#sinceMs = Math.max(0, options.clock.now() - dump.at);
  }

  /** Older than its limit by now, and otherwise not looked at. */
  isTooOld(index: number): boolean {
    const { age, maxStaleness } = this.#entries[index] ?? {};
    const limit = maxStaleness === null ? Infinity : (maxStaleness ?? this.#options.maxStalenessMs);
    const areNumbers = isNumber(age, 0, Number.MAX_VALUE) && isNumber(limit, 0, Infinity);
    return areNumbers && (age as number) + this.#sinceMs > limit;
  }

  /**
   * One entry, with its age now; `undefined`: it is invalid, `checks` has the reasons.
   *
   * @param checkMore what else makes it invalid.
   */
  read<T>(
    index: number,
    checkMore: (
      entry: Partial<E>,
      check: (holds: boolean, option: string, rule: string, received: unknown) => void,
    ) => void,
  ): RestoredValue<T> | undefined {
    let isValid = true;
    const check = (holds: boolean, option: string, rule: string, received: unknown): void => {
      this.checks.that(holds, `dump.entries[${index}].${option}`, rule, received);
      isValid &&= holds;
    };
    const given: Partial<E> = this.#entries[index] ?? {};
    const { age, nextExecuteTime, maxStaleness, meta, headers, isLimitScheduled } = given;
    let { value } = given;
    const isValue = (value !== undefined || this.#options.allowUndefined) && !isThenable(value);
    check(isValue, 'value', 'must be a value', value);
    try {
      if (isValue) value = schemaArgument(this.#options, undefined, value);
    } catch (error) {
      check(false, 'value', `must fit the schema: ${messageOf(error)}`, value);
    }
    check(isNumber(age, 0, Number.MAX_VALUE), 'age', 'must be a finite number of 0 or more', age);
    const isTime = nextExecuteTime === null || isNumber(nextExecuteTime, 0, Infinity);
    check(isTime, 'nextExecuteTime', 'must be epoch milliseconds or null', nextExecuteTime);
    const isLimit = (maxStaleness ?? null) === null || isNumber(maxStaleness, 0, Infinity);
    check(isLimit, 'maxStaleness', 'must be a number of 0 or more, or null', maxStaleness);
    check(meta === undefined || isMeta(meta), 'meta', META_RULE, meta);
    const areHeaders = headers === undefined || areStoredHeaders(headers);
    check(
      areHeaders,
      'headers',
      'must be a plain object of strings, of at most 1,000 characters of JSON',
      headers,
    );
    checkMore({ ...given, value }, check);
    if (!isValid) return undefined;
    return {
      value: value as T,
      ageMs: (age as number) + this.#sinceMs,
      nextExecuteTime: nextExecuteTime ?? Infinity,
      maxStalenessMs: maxStaleness === null ? Infinity : maxStaleness,
      meta,
      headers,
      isLimitScheduled: isLimitScheduled === true,
    };
  }
}

/**
 * Restores the one value of a dump, unless it is too old, or older than the value that is held, or that is pinned.
 *
 * @throws {OptionError} when it is not a dump of a value, or its entry is invalid; nothing is restored then.
 */
export function restoreValue<T>(dump: ValueDump<T>, engine: MemberEngine<T>, entry: Entry<T>): RestoreReport {
  const reader = new DumpReader<DumpedValue<T> & { readonly key?: unknown }>(dump, engine.options);
  const { length } = dump.entries;
  reader.checks.that(length <= 1, 'dump.entries', 'must have at most one entry', length);
  const given =
    length === 0 || reader.isTooOld(0)
      ? undefined
      : reader.read<T>(0, ({ key }, check) => check(key === undefined, 'key', 'must not be there', key));
  reader.checks.done();
  engine.loader.initial?.();
  const isPinned = engine.coordinator?.pinnedError(entry) !== undefined;
  const restored = !isPinned && given !== undefined && putRestored(engine, entry, given) ? 1 : 0;
  return { restored, dropped: length - restored };
}
