import { ignoreThenable } from '../time/deferred.ts';
/** The arguments of a load, split into those for the thread and those that stay here. */
export interface LoadArguments {
  readonly signal: AbortSignal | undefined;
  /** No caller waited for the load when it started. */
  readonly background: boolean;
  /** The arguments of the load in the thread, without the signal. */
  readonly args: readonly unknown[];
}

/** Picks the part of the previous value that is cloned into the thread. */
export type PickPrevious = (value: never) => unknown;

/** The fields of the context that are cloned as they are. */
const CLONED_FIELDS = ['attempt', 'trigger', 'background', 'token', 'key'];

/**
 * Splits the arguments of a load: `(context)` of a value or a task, `(key, context)` or `(keys, context)` of a cache.
 */
export function splitArguments(args: readonly unknown[], pick: PickPrevious | undefined): LoadArguments {
  const isKeyed = isContext(args[1]);
  const context = (isKeyed ? args[1] : args[0]) as Record<string, unknown> | undefined;
  const cloned = Object.fromEntries(
    Object.entries(context ?? {}).flatMap(([name, value]) => {
      if (name === 'previous') return [[name, pickedPrevious(value, pick)]];
      return CLONED_FIELDS.includes(name) ? [[name, value]] : [];
    }),
  );
  return {
    signal: isContext(context) ? context.signal : undefined,
    background: context?.background === true,
    args: isKeyed ? [args[0], cloned] : [cloned],
  };
}

interface Previous {
  readonly value: unknown;
  readonly loadedAt: number;
}

/** Leaves the value itself out: cloning it into the thread could take longer than the load. */
function pickedPrevious(previous: unknown, pick: PickPrevious | undefined): unknown {
  if (previous === undefined) return undefined;
  if (previous instanceof Map) {
    return new Map([...previous].map(([key, one]) => [key, pickedPrevious(one, pick)]));
  }
  const { value, loadedAt } = previous as Previous;
  return { value: ignoreThenable(pick?.(value as never)), loadedAt };
}

function isContext(thing: unknown): thing is { readonly signal: AbortSignal } {
  const signal = (thing as { signal?: Partial<AbortSignal> } | null | undefined)?.signal;
  return typeof signal === 'object' && typeof signal?.addEventListener === 'function';
}
