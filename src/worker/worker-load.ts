/** The part of the load context that this thread uses. */
interface SignalContext {
  readonly signal: AbortSignal;
}

/**
 * The function that `loadInWorker` returns. If `M` is the type of a module (`typeof import('./load-codes.js')`), the
 * function has the parameters of the exported one: a context, a key and a context, or keys and a context. Any other
 * `M` is the type of the value, and the function accepts all of these.
 */
export type WorkerLoad<M> = M extends { readonly load: infer F extends Exported }
  ? Asynchronous<F>
  : M extends { readonly default: infer F extends Exported }
    ? Asynchronous<F>
    : (...args: readonly unknown[]) => Promise<M>;

type Exported = (...args: never[]) => unknown;

type Asynchronous<F extends Exported> = Parameters<F>['length'] extends 0
  ? () => Promise<Awaited<ReturnType<F>>>
  : NonNullable<Parameters<F>[0]> extends SignalContext
    ? (context: SignalContext) => Promise<Awaited<ReturnType<F>>>
    : (key: Parameters<F>[0], context: SignalContext) => Promise<Awaited<ReturnType<F>>>;
