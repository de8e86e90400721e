/** What a load is called with, taken apart. */
export interface Asked {
  readonly signal: AbortSignal | undefined;
  /** Nobody waited for it when it started. */
  readonly background: boolean;
  /** What the load in the thread is called with, but for the signal. */
  readonly args: readonly unknown[];
}

/** Picks what the thread is told of a value that is served now. */
export type Pick = (value: never) => unknown;

/** What goes along as it is; without the names that are missing. */
const TOLD = ['attempt', 'trigger', 'background', 'token', 'key'];

/**
 * Takes the arguments of a load apart: `(context)` of a value or a task, `(key, context)` or `(keys, context)` of a
 * cache. Behind the context of a value may stand something else, which is no context.
 */
export function askedBy(args: readonly unknown[], pick: Pick | undefined): Asked {
  const isKeyed = isContext(args[1]);
  const context = (isKeyed ? args[1] : args[0]) as Record<string, unknown> | undefined;
  const told = Object.fromEntries(
    Object.entries(context ?? {}).flatMap(([name, value]) => {
      if (name === 'previous') return [[name, previousFor(value, pick)]];
      return TOLD.includes(name) ? [[name, value]] : [];
    }),
  );
  return {
    signal: isContext(context) ? context.signal : undefined,
    background: context?.background === true,
    args: isKeyed ? [args[0], told] : [told],
  };
}

interface Previous {
  readonly value: unknown;
  readonly loadedAt: number;
}

/** To clone the whole value into the thread could take longer than the load. */
function previousFor(previous: unknown, pick: Pick | undefined): unknown {
  if (previous === undefined) return undefined;
  if (previous instanceof Map) {
    return new Map([...previous].map(([key, one]) => [key, previousFor(one, pick)]));
  }
  const { value, loadedAt } = previous as Previous;
  return { value: pick?.(value as never), loadedAt };
}

function isContext(thing: unknown): thing is { readonly signal: AbortSignal } {
  const signal = (thing as { signal?: Partial<AbortSignal> } | null | undefined)?.signal;
  return typeof signal === 'object' && typeof signal?.addEventListener === 'function';
}
