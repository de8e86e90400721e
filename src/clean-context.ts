type Run = <R>(action: () => R) => R;

interface AsyncHooksModule {
  readonly AsyncLocalStorage: { snapshot?: () => Run };
}

interface ProcessLike {
  readonly getBuiltinModule?: (id: string) => unknown;
}

function captureContext(): Run {
  const { process } = globalThis as { process?: ProcessLike };
  const asyncHooks = process?.getBuiltinModule?.('async_hooks') as AsyncHooksModule | undefined;
  return asyncHooks?.AsyncLocalStorage.snapshot?.() ?? ((action) => action());
}

/**
 * Runs an action outside of the caller's AsyncLocalStorage, in the context in which this module was first
 * evaluated (the process start, usually: no store at all).
 *
 * A load is shared by many readers, so the context of the one that happened to start it must not reach it: its
 * trace would swallow the load, its request-scoped connection would be used after the request. The runtime is asked
 * for the module instead of importing it, so that the core loads where there is none; there nothing is to be kept
 * out either.
 */
export const inCleanContext: Run = /* @__PURE__ */ captureContext();
