/** What is read of the context of a load here; any context of tickless has more. */
interface Signalled {
  readonly signal: AbortSignal;
}

/**
 * The function that `loadInWorker` makes. Of a module, given as `typeof import('./load-codes.js')`, it takes what the
 * function takes that the module exports: a context, a key and a context, or the keys and a context. Of anything else,
 * which is the type of the value, it takes all of them.
 */
export type WorkerLoad<M> = M extends { readonly load: infer F extends Exported }
  ? Asynchronous<F>
  : M extends { readonly default: infer F extends Exported }
    ? Asynchronous<F>
    : (...args: readonly unknown[]) => Promise<M>;

type Exported = (...args: never[]) => unknown;

type Asynchronous<F extends Exported> = Parameters<F>['length'] extends 0
  ? () => Promise<Awaited<ReturnType<F>>>
  : NonNullable<Parameters<F>[0]> extends Signalled
    ? (context: Signalled) => Promise<Awaited<ReturnType<F>>>
    : (key: Parameters<F>[0], context: Signalled) => Promise<Awaited<ReturnType<F>>>;
