import type { LoadContext } from '../engine/load-context.ts';
import { OnStack } from './on-stack.ts';

/** Loads that run at the same time are never on the stack together. */
export const loadOnStack: OnStack<LoadContext> = /* @__PURE__ */ new OnStack();

/**
 * The context of the load that calls it: `signal`, `attempt`, `previous` and the rest of `LoadContext`. For loads of
 * {@link refreshing}, whose arguments are those of the call.
 *
 * ```ts
 * import { loadContext, refreshing } from 'tickless';
 *
 * const city = refreshing(async (code: string) => {
 *   const { signal } = loadContext(); // before the first `await`
 *   signal.throwIfAborted();
 *   return `City of ${code}`;
 * });
 * console.log(await city('1012')); // City of 1012
 * ```
 *
 * It works until the first `await` of the load, each retry included, and also in functions that the load calls until then.
 *
 * @throws {TypeError} anywhere else.
 */
export function loadContext<Previous = unknown>(): LoadContext<Previous> {
  const { context } = loadOnStack;
  if (context !== undefined) return context as LoadContext<Previous>;
  throw new TypeError(
    'loadContext() was called outside of a load of refreshing(), or after its first await: read the context on the first line of the load',
  );
}
