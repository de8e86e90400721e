/** The cases of {@link WorkerError}. */
export type WorkerErrorCode =
  | 'ERR_TICKLESS_WORKER_START'
  | 'ERR_TICKLESS_WORKER_MODULE'
  | 'ERR_TICKLESS_WORKER_CLONE'
  | 'ERR_TICKLESS_WORKER_CRASH'
  | 'ERR_TICKLESS_WORKER_MEMORY'
  | 'ERR_TICKLESS_WORKER_EXIT'
  | 'ERR_TICKLESS_WORKER_PROTOCOL';

/**
 * A load in a thread failed for another reason than an error that the load threw. (An error of the load itself is
 * passed on as it is.) Readers find the `WorkerError` as the `cause` of their `LOAD_FAILED` error. Its `code` never changes
 * between versions:
 *
 * - `ERR_TICKLESS_WORKER_START`: the thread could not be started; see `cause`. Check the `env` and `resourceLimits`.
 * - `ERR_TICKLESS_WORKER_MODULE`: the module is missing, cannot be read or threw during its evaluation (see `cause`),
 * or
 *   it does not export a function as `load` or as default. Check the URL, also in the bundled program.
 * - `ERR_TICKLESS_WORKER_CLONE`: the result cannot be cloned out of the thread, or the key or the value picked by
 *   `previous` cannot be cloned into it; `cause` names the culprit. Use plain data.
 * - `ERR_TICKLESS_WORKER_CRASH`: an uncaught error or an unhandled rejection (`cause`) ended the thread.
 * - `ERR_TICKLESS_WORKER_MEMORY`: the thread needed more memory than `resourceLimits`, or Node's own limits, allow.
 * Raise
 *   the limits, or load less.
 * - `ERR_TICKLESS_WORKER_EXIT`: the module called `process.exit` before the load had settled; `exitCode` is the code.
 * - `ERR_TICKLESS_WORKER_PROTOCOL`: a message of the thread cannot be read (`cause`): the module interferes with the
 *   messages of tickless.
 */
export class WorkerError extends Error {
  override readonly name: string = 'WorkerError';
  readonly code: WorkerErrorCode;
  /** The exit code of the thread, with `ERR_TICKLESS_WORKER_EXIT`; no such property otherwise. */
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

/** Whether it is a {@link WorkerError}, of this or another installed copy of tickless. Never throws. */
export function isWorkerError(error: unknown): error is WorkerError {
  try {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_TICKLESS_WORKER_');
  } catch {
    return false; // a revoked proxy, or a getter threw
  }
}
