import type { EngineOptions } from './engine-options.ts';
import type { Load } from './load-execution.ts';

/** A load of single entries whose calls count for the limit of its member. */
export function limitedLoad<T>(
  load: Load<T>,
  { loadLimit, timeoutMs }: Pick<EngineOptions, 'loadLimit' | 'timeoutMs'>,
): Load<T> {
  if (loadLimit === undefined) return load;
  return (context, entry, abort) =>
    loadLimit.run(
      () => load(context, entry, abort),
      timeoutMs,
      () => [context],
    );
}
