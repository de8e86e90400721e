import { isAbsolute, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SHARE_ENV } from 'node:worker_threads';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { Semaphore } from '../time/semaphore.ts';
import { whileWaiting } from '../time/waited-for.ts';
import { splitArguments } from './load-arguments.ts';
import { runThread, type ThreadPlan } from './thread.ts';
import type { WorkerLoad } from './worker-load.ts';

/** Memory limits of a thread, each with Node's own default. See `resourceLimits` of Node's `Worker`. */
export interface ThreadLimits {
  /** The heap of long-lived objects, in MB. */
  readonly maxOldGenerationSizeMb?: number | undefined;
  /** The heap of recently created objects, in MB. */
  readonly maxYoungGenerationSizeMb?: number | undefined;
  /** The memory for generated code, in MB. */
  readonly codeRangeSizeMb?: number | undefined;
  /** The stack, in MB. */
  readonly stackSizeMb?: number | undefined;
}

/** The options of {@link loadInWorker}. */
export interface LoadInWorkerOptions {
  /**
   * Transfers the buffers in the value (`ArrayBuffer`s, and so typed arrays) instead of copying them, at any depth. The
   * thread ends after the load, so it does not need them. Buffers that cannot be transferred (memory of WebAssembly,
   * small `Buffer`s of Node's pool) are copied. `false`: all are copied. A `SharedArrayBuffer` is shared in any case.
   * @default true
   */
  readonly transfer?: boolean | undefined;
  /**
   * Memory limits of the thread. A load that needs more fails with `ERR_TICKLESS_WORKER_MEMORY`, and the process goes
   * on. One very large allocation can still end the process before Node notices. Buffers are outside of the heap, and
   * not limited. @default Node's own limits
   */
  readonly resourceLimits?: ThreadLimits | undefined;
  /**
   * The `process.env` of the thread. `SHARE_ENV` of `node:worker_threads`: the thread shares that of this one.
   * @default a copy of this thread's `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | symbol | undefined;
  /**
   * Picks the part of the current value that the thread gets as `context.previous.value`, for conditional requests.
   * Called in this thread, at the start of each load that has a previous value. The picked value is cloned, so it
   * should be small. Annotate the parameter: `(codes: Codes) => codes.etag`. An error that it throws fails the load.
   * @default undefined: `context.previous` has `loadedAt` only
   */
  readonly previous?: ((value: never) => unknown) | undefined;
  /**
   * How many threads of this function run at a time. Further loads wait for their turn, within their own deadline.
   * Without a limit a thousand cold keys of a cache would start a thousand threads; better give such a cache
   * `loadMany`. A whole number from 1; `Infinity`: no limit. @default 4
   */
  readonly concurrency?: number | undefined;
}

const KNOWN = ['transfer', 'resourceLimits', 'env', 'previous', 'concurrency'];
const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb'];

/**
 * Makes a load that runs in a thread: for work that would block the event loop, such as parsing, decompressing or
 * indexing 50 MB. Each call starts a thread (`worker_threads`) and ends it: there is no thread between loads.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { loadInWorker } from 'tickless/worker';
 *
 * const codes = new RefreshingValue({
 *   name: 'postal-codes',
 *   load: loadInWorker<Map<string, string>>(new URL('./load-codes.js', import.meta.url)),
 * });
 * ```
 *
 * **The module** exports a function as `load`, or as default, with the parameters of a load in this thread:
 * `(context)` for a value or a task, `(key, context)` or `(keys, context)` for `load` or `loadMany` of a cache. The
 * function may be synchronous or not, and may return `keep()`, `loaded(…)` and `absent()`. Its context has `attempt`,
 * `trigger`, `background`, `key`, `token` and a `signal` as usual, and `previous` without the value: see the option
 * `previous`. The module is a file, an ES module or CommonJS; TypeScript where the runtime strips types (Node 22.18
 * and later). The type argument is the type of the value, or of the module:
 * `loadInWorker<typeof import('./load-codes.js')>(…)`.
 *
 * **The value** is cloned (the structured clone: no functions, and instances of classes become plain objects). It
 * arrives in chunks of about a millisecond each, and the event loop runs between them: large arrays, plain objects,
 * `Map`s and `Set`s are reassembled here, at any depth. Only if the same object occurs twice, and one of the places
 * is the key of a `Map`, in a `Set`, or in an instance of a class, the value arrives in one chunk, which takes as long
 * as `JSON.parse` of the same data. Buffers are transferred.
 *
 * **With a store** the value is encoded, checked and decoded in this thread, in slices of about a millisecond too, if the
 * store has the default codec: do not change it after the load. These take one slice each, whatever their size: a text, a
 * buffer or an instance in it; the list of the keys of one object (a `Map` has none); the join of the text, and the copy
 * that a client makes of it; `encode` and `decode` of your own codec, and a `schema`. The same holds for a value that
 * would arrive in one chunk.
 *
 * **Deadline and abort** (`timeout`, `invalidate`, `set`, `close`) abort the `signal` in the thread, and end the thread
 * 100 ms later, or as soon as the load has settled. Synchronous code is interrupted too.
 *
 * **Failure.** The returned function rejects with the error of the load: an error of the same built-in class with its
 * name, message, stack, cause and all properties that can be cloned, so that a `Retry-After` in it still counts.
 * After any other failure it rejects with a {@link WorkerError}, whose `code` tells the case. It settles after the
 * thread has ended. Each concurrent call has a thread of its own, up to `concurrency`. The thread of a background
 * load does not keep the process alive. Output of the module is output of this process.
 *
 * @param module an absolute URL or path.
 * @throws {TicklessError} `OPTION` if an option is invalid.
 */
export function loadInWorker<M = unknown>(
  module: URL | string,
  options?: LoadInWorkerOptions,
): WorkerLoad<M> {
  const { transfer = true, resourceLimits, env, previous, concurrency = 4 } = ownOptions(options ?? {});
  const url = urlOf(module);
  const checks = new OptionChecks('loadInWorker');
  checks.that(url !== undefined, 'module', 'must be an absolute URL or path', module);
  checks.names('', options ?? {}, KNOWN);
  checks.oneOf('transfer', transfer, [true, false]);
  if (resourceLimits !== undefined) checkLimits(resourceLimits, checks);
  const isEnv = env === undefined || env === SHARE_ENV || (typeof env === 'object' && env !== null);
  checks.that(isEnv, 'env', 'must be an object or SHARE_ENV', env);
  if (previous !== undefined) checks.function('previous', previous);
  checks.count('concurrency', concurrency, Infinity);
  checks.done();
  const { href, pathname } = url as URL;
  const settings = {
    ...(env && { env }),
    ...(resourceLimits && { resourceLimits }),
  } as ThreadPlan['settings'];
  const semaphore = new Semaphore(concurrency);

  const load = async (...given: readonly unknown[]): Promise<unknown> => {
    const { signal, background, args } = splitArguments(given, previous);
    const plan: ThreadPlan = {
      name: posix.basename(pathname),
      settings,
      request: { kind: 'load', module: href, args, transfer },
      signal,
      keepAlive: !background,
    };
    return semaphore.run(async () => {
      await undefined;
      signal?.throwIfAborted(); // an abort right after the call starts no thread
      if (signal === undefined) return runThread(plan);
      return whileWaiting(
        signal,
        () => `the worker ${plan.name}`,
        () => runThread(plan),
      );
    }, signal);
  };
  return load as WorkerLoad<M>;
}

function checkLimits(limits: ThreadLimits, checks: OptionChecks): void {
  const isObject = typeof limits === 'object' && limits !== null;
  checks.that(isObject, 'resourceLimits', 'must be an object', limits);
  if (!isObject) return;
  checks.names('resourceLimits.', limits, LIMITS);
  for (const [name, received] of Object.entries(limits)) {
    if (!LIMITS.includes(name) || received === undefined) continue;
    const holds = typeof received === 'number' && received > 0 && received < Infinity;
    checks.that(holds, `resourceLimits.${name}`, 'must be a finite number over 0', received);
  }
}

function urlOf(module: unknown): URL | undefined {
  if (module instanceof URL) return module;
  if (typeof module !== 'string') return undefined;
  if (isAbsolute(module)) return pathToFileURL(module);
  return URL.canParse(module) ? new URL(module) : undefined;
}
