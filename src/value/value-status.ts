import type { ValueMeta } from '../data/value-meta.ts';
import { isTooStale, mayServe, refusesReads } from '../engine/decide.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { type Refused, withoutDifferences } from '../engine/refused.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import { isTicklessError } from '../errors.ts';
import { withJson } from '../json.ts';
import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';

/** The options of `inspect`. */
export interface InspectOptions {
  /** `false`: a status without values, for a log or an endpoint. @default true */
  readonly values?: boolean | undefined;
}

/** Whether a status has values. @throws {TicklessError} `OPTION` for an unknown option, or one that is not a boolean. */
export function inspectsValues(name: string, options: InspectOptions | undefined): boolean {
  return inspectsParts(name, options, ['values']).values;
}

/** Which parts a status has: all that are not `false`. @throws {TicklessError} `OPTION` as {@link inspectsValues}. */
export function inspectsParts<Part extends string>(
  name: string,
  options: { readonly [part in Part]?: boolean | undefined } | undefined,
  parts: readonly Part[],
): { readonly [part in Part]: boolean } {
  namesArgument(name, options, parts);
  const checks = new OptionChecks(name);
  const chosen = parts.map((part) => {
    const { [part]: is = true } = ownOptions(options ?? ({} as { readonly [part in Part]?: boolean }));
    checks.oneOf(part, is, [true, false]);
    return [part, is];
  });
  checks.done();
  return Object.fromEntries(chosen) as { readonly [part in Part]: boolean };
}

/** The value that is served at one instant, and its age. A copy: it does not change. */
export interface ValueStatus<T> extends ExecutionStatus {
  /** The value; not present while there is none, and with `values: false`. */
  readonly value?: T;
  /**
   * `empty`: nothing loaded; `fresh`: loaded and not due; `stale`: due for a reload; `too-stale`: older than
   * `maxStaleness`; `absent`: a key that the source does not have.
   */
  readonly state: 'empty' | 'fresh' | 'stale' | 'too-stale' | 'absent';
  /** The value is that of the option `initial`, no load has succeeded yet; not present otherwise. */
  readonly isInitial?: true;
  /**
   * A read now would be refused: the value must not be served, or there is none and its last load failed, or none may start.
   * `false` before the first read: it would wait for the load. `false` of an absent key.
   */
  readonly refusesReads: boolean;
  /** When the value was loaded (or kept, or set): the end of the load in epoch milliseconds. `undefined`: never. */
  readonly loadedAt: number | undefined;
  /** Milliseconds since then, by the monotonic clock: right also when the wall clock was stepped. */
  readonly age: number | undefined;
  /** There is a value, and it is due for a reload (`state` is `stale` or `too-stale`). */
  readonly isStale: boolean;
  /** The loaded value that was refused last; `undefined`: there is none, or a load has succeeded since, or a value was set. */
  readonly refused: Refused | undefined;
  /** The age beyond which it is too stale, in milliseconds; `Infinity`: none. A version that is `pinned` is served beyond it. */
  readonly maxStaleness: number;
  /** The `meta` that its load returned, on this instance or another one: where it is from. Not present: none. */
  readonly meta?: ValueMeta;
}

/** @param hasValue with the value, if there is one. */
export function valueStatus<T>(entry: Entry<T>, engine: MemberEngine<T>, hasValue: boolean): ValueStatus<T> {
  const execution = engine.inspect(entry);
  const { isLoaded, isInitial } = entry;
  const { rules, reporter } = engine;
  const now = engine.options.clock.monotonic();
  // A load that hangs has not failed; reads without patience would wait for it.
  const hangs = engine.options.kind === 'value' && reporter.isRefusing && !mayServe(entry, rules, now);
  const state = stateOf(entry, execution.isDue, now);
  return withJson({
    ...execution,
    ...(isLoaded && hasValue ? { value: entry.value as T } : {}),
    state,
    ...(isInitial ? { isInitial } : {}),
    refusesReads: hangs || refusesReads(entry, rules, now),
    loadedAt: isLoaded ? entry.last?.endedAt : undefined,
    age: isLoaded ? now - entry.loadedAt : undefined,
    isStale: state === 'stale' || state === 'too-stale',
    refused: entry.refused && (hasValue ? entry.refused : withoutDifferences(entry.refused)),
    maxStaleness: engine.coordinator?.pinOf(entry)?.limitMs ?? entry.maxStalenessMs,
    ...(entry.last?.meta && { meta: entry.last.meta }),
  });
}

function stateOf(entry: Entry<unknown>, isDue: boolean, now: number): ValueStatus<unknown>['state'] {
  if (!entry.isLoaded) return isTicklessError(entry.lastError, 'ABSENT') ? 'absent' : 'empty';
  if (isTooStale(entry, now)) return 'too-stale';
  return isDue ? 'stale' : 'fresh';
}
