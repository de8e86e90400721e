type Run = <R>(action: () => R) => R;

/** What runs in the context in which it was made, or in a copy of that. */
interface Scope {
  readonly runInAsyncScope: Run;
}

interface AsyncHooksModule {
  readonly AsyncResource?: new (type: string) => Scope;
}

interface ProcessLike {
  readonly getBuiltinModule?: (id: string) => unknown;
}

const { process } = globalThis as { process?: ProcessLike };
const asyncHooks = process?.getBuiltinModule?.('async_hooks') as AsyncHooksModule | undefined;

const AsyncResource = asyncHooks?.AsyncResource;

const none: Scope = { runInAsyncScope: (action) => action() };

/** Takes the present context down. Cheaper than `AsyncLocalStorage.snapshot`, which makes a function of it. */
const capture = (): Scope => (AsyncResource === undefined ? none : new AsyncResource('tickless'));

const first: Scope = /* @__PURE__ */ capture();

/**
 * Runs an action outside of the caller's AsyncLocalStorage, in the context in which this module was first
 * evaluated (the process start, usually: no store at all).
 *
 * A load is shared by many readers, so the context of the one that happened to start it must not reach it: its
 * trace would swallow the load, its request-scoped connection would be used after the request. The runtime is asked
 * for the module instead of importing it, so that the core loads where there is none; there nothing is to be kept
 * out either.
 *
 * Each action has a copy of that context. Before Node 24 a context is an object that `AsyncLocalStorage.run` changes
 * while it runs: were it one for all, a listener that reads within a `run` of its own would show it to the load.
 */
export const inDetachedContext: Run = (action) => first.runInAsyncScope(capture).runInAsyncScope(action);
