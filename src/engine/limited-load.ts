import type { EngineOptions } from './engine-options.ts';
import { deadlineOf } from './entry.ts';
import type { Load } from './load-execution.ts';

/** A load of single entries whose calls count for the limit of its member. */
export function limitedLoad<T>(
  load: Load<T>,
  { loadLimit, name }: Pick<EngineOptions, 'loadLimit' | 'name'>,
): Load<T> {
  if (loadLimit === undefined) return load;
  return (context, entry, abort) =>
    loadLimit.run(
      () => load(context, entry, abort),
      deadlineOf(entry),
      () => [context],
      name,
    );
}
