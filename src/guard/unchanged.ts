import { areDeepEqual, importDeepEqual } from '../data/late-deep-equal.ts';
import type { SafeLogger } from '../observe/logger.ts';
import { ignoreThenable } from '../time/deferred.ts';

/** The option `unchanged`: `true` for a value that says the same as the one in place. */
export type Unchanged<T> = 'deep' | ((before: T, now: T) => boolean);

/** Whether a loaded value is the one in place. May throw. */
export type IsUnchanged = (before: unknown, now: unknown) => boolean;

/** The option, ready to be asked on the stack of a load that has ended. */
export function isUnchangedBy(
  option: Unchanged<never> | undefined,
  logger: SafeLogger,
): IsUnchanged | undefined {
  if (option === undefined) return undefined;
  if (option === 'deep') {
    importDeepEqual().catch((error) =>
      logger.error("unchanged: 'deep' could not be loaded, each value counts as a new one", error),
    );
    return (before, now) => before === now || areDeepEqual(before, now);
  }
  return (before, now) => {
    const verdict: unknown = ignoreThenable<unknown>(option(before as never, now as never));
    if (typeof verdict === 'boolean') return verdict;
    throw new TypeError('unchanged must return true or false, and not a promise of it');
  };
}
