import { areDeepEqual, importDeepEqual } from '../data/late-deep-equal.ts';
import type { Load } from '../engine/flight.ts';
import type { KeyedLoadReturn } from '../engine/load-result.ts';
import type { SafeLogger } from '../observe/logger.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { rethrow, settled } from './validated.ts';

/** The option `unchanged`: `true` for a value that says the same as the one in place. */
export type Unchanged<T> = 'deep' | ((before: T, now: T) => boolean);

/** Whether a loaded value is the one in place. May throw. */
export type IsUnchanged = (before: unknown, now: unknown) => boolean;

/** The option, ready to be asked on the stack of a load that has ended. */
export function isUnchangedBy(option: Unchanged<never> | undefined): IsUnchanged | undefined {
  if (option === undefined) return undefined;
  if (option === 'deep') return (before, now) => before === now || areDeepEqual(before, now);
  return (before, now) => {
    const verdict: unknown = ignoreThenable<unknown>(option(before as never, now as never));
    if (typeof verdict === 'boolean') return verdict;
    throw new TypeError('unchanged must return true or false, and not a promise of it');
  };
}

/** A load that ends when deep equality is there: it is imported by the first of them. */
export function withDeepEqual<T>(load: Load<T>, logger: SafeLogger): Load<T> {
  let isReported = false;
  const report = (error: unknown): void => {
    if (!isReported)
      logger.error("unchanged: 'deep' could not be imported, each value counts as a new one", error);
    isReported = true;
  };
  return (context, entry, abort) => {
    const imported = importDeepEqual()?.catch(report);
    const later = (returned: KeyedLoadReturn<T>): ReturnType<Load<T>> =>
      imported === undefined || context.previous === undefined ? returned : imported.then(() => returned);
    return settled(() => load(context, entry, abort), later, rethrow);
  };
}
