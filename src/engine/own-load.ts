import type { TicklessError } from '../errors.ts';
import { optionError } from '../option-error.ts';
import { rejected } from '../time/deferred.ts';
import type { EngineOptions } from './engine-options.ts';
import { deadlineOf } from './entry.ts';
import type { Load } from './flight.ts';

/** The entries or tasks whose calls are on the stack, the innermost last. */
const onStack: object[] = [];

/** Calls a load or a task, or the schema or guard of its result: until its first `await` it is known to be on the stack. @param owners its entries, or the task. */
export function callOwned<R>(owners: readonly object[], call: () => R): R {
  const outer = onStack.length;
  for (const owner of owners) onStack.push(owner);
  try {
    return call();
  } finally {
    onStack.length = outer;
  }
}

/** The load or task of one of these is on the stack. */
export function isOnStack(owners: Iterable<object>): boolean {
  if (onStack.length === 0) return false;
  for (const owner of owners) if (onStack.includes(owner)) return true;
  return false;
}

/** The load of a member calls what would wait for the end of that load. */
export function ownLoadError(member: string, key?: unknown): TicklessError {
  const rule =
    'must not wait for its own end: for a first read, refresh, rollback, close or the like, nor may its schema and accept';
  return optionError([{ option: 'load', rule, received: 'a call from within it' }], { member, key });
}

/** The result of a method that waits for these, or at once an error if one of them calls it. */
export function unlessOwn<R>(owners: Iterable<object>, member: string, result: Promise<R>): Promise<R> {
  return isOnStack(owners) ? rejected(ownLoadError(member)) : result;
}

/** A load of single entries: its calls count for the limit of its member, and are known while they are on the stack. */
export function limitedLoad<T>(
  load: Load<T>,
  { loadLimit, name }: Pick<EngineOptions, 'loadLimit' | 'name'>,
): Load<T> {
  const owned: Load<T> = (context, entry, abort) => callOwned([entry], () => load(context, entry, abort));
  if (loadLimit === undefined) return owned;
  return (context, entry, abort) =>
    loadLimit.run(
      () => owned(context, entry, abort),
      deadlineOf(entry),
      () => [context],
      name,
    );
}
