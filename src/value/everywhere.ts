import { checkOrigin, type PublishOrigin } from '../data/origin.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import { ignoreRejection } from '../time/deferred.ts';
import { versionsOf } from './versions.ts';

/** The options of what may be done for all instances of a cluster. */
export interface EverywhereOptions {
  /**
   * For all instances: the promise resolves when the store has it, where they find it at their next load. It rejects with
   * `LockUnavailableError` or `StoreUnavailableError` when they could not be reached within the `timeout`, with
   * `ClosedError` when `close()` ended the wait; the change stays here. Needs a `store`. @default false: for this instance
   */
  readonly everywhere?: boolean | undefined;
}

/** The options of `set` for all instances of a cluster. */
export interface SetEverywhereOptions extends EverywhereOptions, PublishOrigin {}

/**
 * Takes apart the options of `set`.
 *
 * @returns those of {@link everywhereArgument}, and the person that sets it.
 * @throws {OptionError} for `by` and `note` that are not short texts.
 */
export function setArgument(
  name: string,
  given: SetEverywhereOptions | undefined,
): readonly [options: EverywhereOptions | undefined, origin: PublishOrigin] {
  if (typeof given !== 'object' || given === null) return [given, {}];
  const { by, note, ...options } = ownOptions(given);
  const checks = new OptionChecks(name);
  checkOrigin({ by, note }, checks, false);
  checks.done();
  return [options, { by, note }];
}

/** The options of methods beside `everywhere`, each a boolean. */
interface Flags {
  readonly drop?: boolean | undefined;
  readonly unpin?: boolean | undefined;
}

/**
 * Checks the options of a method.
 *
 * @param flags those that the method takes beside `everywhere`.
 * @returns whether it is to be done for all instances.
 * @throws {OptionError} for an unknown option, for one that is not a boolean, and for `everywhere` without a store.
 */
export function everywhereArgument(
  { name, membership }: EngineOptions,
  given: (EverywhereOptions & Flags) | undefined,
  ...flags: readonly (keyof Flags)[]
): boolean {
  const options = ownOptions(given);
  namesArgument(name, options, [...flags, 'everywhere']);
  const everywhere = options?.everywhere ?? false;
  const checks = new OptionChecks(name);
  for (const flag of flags) checks.oneOf(flag, options?.[flag] ?? false, [true, false]);
  checks.oneOf('everywhere', everywhere, [true, false]);
  const canShare = everywhere !== true || membership?.hasStore === true;
  checks.that(canShare, 'everywhere', 'must not be given without a store', everywhere);
  checks.done();
  return everywhere;
}

/** Publishes the value of an entry, which was set by hand, if that is asked for. */
export function shareIf<T>(
  isAskedFor: boolean,
  engine: MemberEngine<T>,
  entry: Parameters<MemberEngine<T>['share']>[0],
  origin: PublishOrigin,
): Promise<void> {
  return isAskedFor ? ignoreRejection(engine.share(entry, origin).then(() => {})) : Promise.resolve();
}

/** Makes an entry out of date, here or on all instances. @returns a promise for all instances. */
export function invalidateIf<T>(
  isForAll: boolean,
  engine: MemberEngine<T>,
  entry: Parameters<MemberEngine<T>['share']>[0],
  drop: boolean,
): Promise<void> | undefined {
  if (isForAll) return ignoreRejection(versionsOf(engine, entry).mark(drop ? 'dropped' : 'invalidated'));
  engine.invalidate(entry, drop);
  return undefined;
}
