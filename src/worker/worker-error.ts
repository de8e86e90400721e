/** Which case it is: see {@link WorkerError}. */
export type WorkerErrorCode =
  | 'ERR_TICKLESS_WORKER_START'
  | 'ERR_TICKLESS_WORKER_MODULE'
  | 'ERR_TICKLESS_WORKER_CLONE'
  | 'ERR_TICKLESS_WORKER_CRASH'
  | 'ERR_TICKLESS_WORKER_MEMORY'
  | 'ERR_TICKLESS_WORKER_EXIT';

/**
 * A load in a thread came to nothing, by something else than an error that the load threw: that one comes as it is. It
 * is the `cause` of the `LoadError` that readers get. Its `code` never changes between versions:
 *
 * - `ERR_TICKLESS_WORKER_START`: the thread could not be started; `cause` says why.
 * - `ERR_TICKLESS_WORKER_MODULE`: the module is missing, can't be read or threw when it was evaluated (`cause`), or it
 *   exports no function as `load` or as default.
 * - `ERR_TICKLESS_WORKER_CLONE`: what the load returned can't be cloned out of the thread, or a key, or what `previous`
 *   picked, not into it; `cause` says what.
 * - `ERR_TICKLESS_WORKER_CRASH`: an error that nothing caught, or a rejection that nobody handled, ended the thread;
 *   it is the `cause`.
 * - `ERR_TICKLESS_WORKER_MEMORY`: the thread needed more memory than `resourceLimits`, or Node's own limits, allow.
 * - `ERR_TICKLESS_WORKER_EXIT`: the thread ended without an answer, by `process.exit`; `exitCode` is its code.
 */
export class WorkerError extends Error {
  override readonly name: string = 'WorkerError';
  readonly code: WorkerErrorCode;
  /** The exit code of a thread that ended without an answer; no such property otherwise. */
  declare readonly exitCode?: number;

  constructor(
    code: WorkerErrorCode,
    message: string,
    { cause, exitCode }: { readonly cause?: unknown; readonly exitCode?: number } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (exitCode !== undefined) this.exitCode = exitCode;
  }
}

/** Is it a {@link WorkerError}, of this or another installed copy of tickless? Never throws. */
export function isWorkerError(error: unknown): error is WorkerError {
  try {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_TICKLESS_WORKER_');
  } catch {
    return false; // a revoked proxy, a getter that throws
  }
}
