import { checkOrigin, type PublishOrigin } from '../data/origin.ts';
import type { VersionControl } from '../data/version-control.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import type { Entry } from '../engine/entry.ts';
import { reachesAll, type ScopeOptions } from '../engine/member-control.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { checked, namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import { ignoreRejection } from '../time/deferred.ts';

/** The options of `set`. */
export interface SetOptions extends ScopeOptions, PublishOrigin {}

/**
 * Takes apart the options of `set`.
 *
 * @returns whether it reaches all instances, and the person that sets it.
 * @throws {TicklessError} `OPTION` as `reachesAll`, and for `by` and `note` that are not short texts.
 */
export function setArgument(
  member: EngineOptions,
  given: SetOptions | undefined,
): readonly [isForAll: boolean, origin: PublishOrigin] {
  if (typeof given !== 'object' || given === null) return [reachesAll(member, given), {}];
  namesArgument(member.name, given, ['by', 'note', 'here']);
  const { by, note, ...options } = ownOptions(given);
  checked(member.name, (checks) => checkOrigin({ by, note }, checks, false));
  return [reachesAll(member, options), { by, note }];
}

/** The options of `refresh`. */
export interface RefreshOptions extends ScopeOptions {
  /**
   * The `digest` of `inspect().refused`, as a person has looked at it: it is loaded again, and `accept` is not asked. The `schema` is. Where
   * something else was loaded by then, or has taken its place, it rejects with `REFUSED`. A load under way does not count: another
   * one follows. @default undefined: `accept` is asked
   */
  readonly force?: string | undefined;
}

/**
 * Takes apart the options of `refresh`.
 *
 * @returns whether it reaches all instances, and the digest of the refused value that passes the guard.
 * @throws {TicklessError} `OPTION` as `reachesAll`, and for a digest that is not a text.
 */
export function refreshArgument(
  member: EngineOptions,
  given: RefreshOptions | undefined,
): readonly [isForAll: boolean, force: string | undefined] {
  if (typeof given !== 'object' || given === null) return [reachesAll(member, given), undefined];
  namesArgument(member.name, given, ['force', 'here']);
  const { force, ...options } = ownOptions(given);
  const isDigest = force === undefined || typeof force === 'string';
  const rule = 'must be the digest of inspect().refused';
  checked(member.name, (checks) => checks.that(isDigest, 'force', rule, force));
  return [reachesAll(member, options), force];
}

/** Publishes the value of an entry, which was set by hand. */
export function shareValue<T>(
  engine: MemberEngine<T>,
  entry: Parameters<MemberEngine<T>['share']>[0],
  origin: PublishOrigin,
): Promise<void> {
  return ignoreRejection(engine.share(entry, origin).then(() => {}));
}

/** The options of `invalidate`. */
export interface InvalidateOptions extends ScopeOptions {
  /** Forget the value too, so that the next read waits as the first did. @default false */
  readonly drop?: boolean | undefined;
  /**
   * The version that is in place, of `read().version` or `history()`, as the caller has seen it: with another one by now it rejects with
   * `OPTION`. With `here` it is the version here, else that in the backend. A safe integer over 0. @default undefined: whichever is in place
   */
  readonly version?: number | undefined;
}

/**
 * Takes apart the options of `invalidate`.
 *
 * @throws {TicklessError} `OPTION` as `reachesAll`, and for a version that is none.
 */
export function invalidateArgument(
  member: EngineOptions,
  given: InvalidateOptions | undefined,
): { readonly isForAll: boolean; readonly drop: boolean; readonly version: number | undefined } {
  if (typeof given !== 'object' || given === null)
    return { isForAll: reachesAll(member, given), drop: false, version: undefined };
  namesArgument(member.name, given, ['drop', 'version', 'here']);
  const { version, drop = false, here = false } = ownOptions(given);
  const isVersion = version === undefined || (Number.isSafeInteger(version) && version > 0);
  checked(member.name, (checks) => checks.that(isVersion, 'version', 'must be a version', version));
  return { isForAll: reachesAll(member, { drop, here }, 'drop'), drop, version };
}

/** Makes an entry out of date, here or on all instances. */
export async function invalidateEntry<T>(
  engine: MemberEngine<T>,
  entry: Parameters<MemberEngine<T>['share']>[0],
  { isForAll, drop, version }: ReturnType<typeof invalidateArgument>,
): Promise<void> {
  if (isForAll) return versionsOf(engine, entry).mark(drop ? 'dropped' : 'invalidated', version);
  if (version !== undefined) versionsOf(engine, entry).throwUnlessHere(version);
  engine.invalidate(entry, drop);
}

/** The versions of an entry in its store. @throws {TicklessError} `OPTION` without one. */
export function versionsOf<T>(engine: MemberEngine<T>, entry: Entry<T>): VersionControl<T> {
  const versions = engine.versions(entry);
  const checks = new OptionChecks(engine.options.name, entry.key);
  checks.that(versions !== undefined, 'backend', 'must be given, to have versions', undefined);
  checks.done();
  return versions as VersionControl<T>;
}
