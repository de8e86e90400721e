import type { EngineOptions } from './engine-options.ts';
import { deadlineOf } from './entry.ts';
import type { Load } from './flight.ts';
import { callOwned } from './own-load.ts';

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
