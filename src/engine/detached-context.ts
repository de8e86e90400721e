/** Runs actions in the context in which it was made, or in a copy of that. */
interface Scope {
  runInAsyncScope<R>(action: () => R): R;
}

const { process } = globalThis as {
  process?: { getBuiltinModule?(id: 'async_hooks'): { AsyncResource?: new (type: string) => Scope } };
};
const AsyncResource = process?.getBuiltinModule?.('async_hooks')?.AsyncResource;

const none: Scope = { runInAsyncScope: (action) => action() };

/** Captures the present context. Cheaper than `AsyncLocalStorage.snapshot`, which creates a function too. */
const capture = (): Scope => (AsyncResource === undefined ? none : new AsyncResource('tickless'));

const first: Scope = /* @__PURE__ */ capture();

/**
 * Runs an action outside of the caller's AsyncLocalStorage, in the context in which this module was first
 * evaluated (the process start, usually: no store at all).
 *
 * A load is shared by many readers, so the context of the one that happened to start it must not reach it: its
 * trace would swallow the load, its request-scoped connection would be used after the request. The runtime is asked
 * for the module instead of importing it, so that the core also loads in runtimes without it, which have no such
 * context.
 *
 * Each action has a copy of that context. Before Node 24 a context is an object that `AsyncLocalStorage.run` changes
 * while it runs: were it one for all, a listener that reads within a `run` of its own would show it to the load.
 */
export function inDetachedContext<R>(action: () => R): R {
  return first.runInAsyncScope(capture).runInAsyncScope(action);
}
