import { isAbsolute, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SHARE_ENV } from 'node:worker_threads';
import { OptionChecks } from '../option-checks.ts';
import { Semaphore } from '../time/semaphore.ts';
import { askedBy } from './asked.ts';
import { runThread, type ThreadPlan } from './thread.ts';
import type { WorkerLoad } from './worker-load.ts';

/** How much memory a thread may take; what is left out is Node's own limit. See `resourceLimits` of Node's `Worker`. */
export interface ThreadLimits {
  /** The heap of values that live, in MB. */
  readonly maxOldGenerationSizeMb?: number | undefined;
  /** The heap of values that were made lately, in MB. */
  readonly maxYoungGenerationSizeMb?: number | undefined;
  /** The memory for generated code, in MB. */
  readonly codeRangeSizeMb?: number | undefined;
  /** The stack, in MB. */
  readonly stackSizeMb?: number | undefined;
}

/** The options of {@link loadInWorker}. */
export interface LoadInWorkerOptions {
  /**
   * Buffers (`ArrayBuffer`s, and so typed arrays) in the value are handed over instead of copied, wherever in it they
   * are: the thread ends, and nobody there misses them. Those that can't be handed over (memory of WebAssembly, small
   * `Buffer`s out of Node's pool) are copied. `false`: all are copied. A `SharedArrayBuffer` is shared in any case.
   * @default true
   */
  readonly transfer?: boolean | undefined;
  /**
   * Limits of the thread's memory. A load that needs more fails, and the process goes on, where Node notices in time: one
   * very large allocation can still end the process. Buffers are outside of the heap, and not limited. @default Node's
   */
  readonly resourceLimits?: ThreadLimits | undefined;
  /**
   * The environment variables that the thread finds in `process.env`; `SHARE_ENV` of `node:worker_threads`: those of
   * this thread, shared. @default a copy of this thread's `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | symbol | undefined;
  /**
   * Picks what the thread is told of the value that is served now, for conditional requests: it becomes
   * `context.previous.value` there. Called in this thread, at the begin of each load that has a previous value; what it
   * returns is cloned, so it should be small. Annotate its parameter: `(codes: Codes) => codes.etag`. Throwing
   * fails the load. @default undefined: the thread is told only `context.previous.loadedAt`
   */
  readonly previous?: ((value: never) => unknown) | undefined;
  /**
   * So many threads of this function run at a time; further loads wait for their turn, within their own deadline. A
   * cache that is asked for a thousand cold keys would start a thousand threads otherwise: give it `loadMany`. A whole
   * number from 1; `Infinity`: no limit. @default 4
   */
  readonly concurrency?: number | undefined;
}

const KNOWN = ['transfer', 'resourceLimits', 'env', 'previous', 'concurrency'];
const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb'];

/**
 * A load that runs in a thread: for what would hold up the event loop, such as parsing, decompressing or indexing 50 MB.
 * Each call starts a thread (`worker_threads`) and ends it: between loads there is none.
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
 * **The module** exports a function as `load`, or as default, with the parameters that the load would have here:
 * `(context)` for a value or a task, `(key, context)` or `(keys, context)` for `load` or `loadMany` of a cache. It may be
 * synchronous or not, and answer with `keep()`, `loaded(…)` and `absent()`. Its context holds `attempt`, `trigger`,
 * `background`, `key` and `token` as here, a `signal`, and `previous` without the value: see the option `previous`. It is
 * a file, an ES module or CommonJS; TypeScript where the runtime strips types (Node 22.18 and later). The type argument
 * is the type of the value, or the module: `loadInWorker<typeof import('./load-codes.js')>(…)`.
 *
 * **The value** is cloned (the structured clone: no functions, and instances of classes become plain objects). It comes
 * in parts of about a millisecond, between which the event loop goes on: large arrays, plain objects, `Map`s and `Set`s,
 * wherever in it they are, are put together here. Only if some object occurs twice in it, and one of the places is the
 * key of a `Map`, in a `Set`, or in an instance of a class, it comes in one part, which takes as long as `JSON.parse` of
 * the same. Buffers are handed over.
 *
 * **Deadline and abort** (`timeout`, `invalidate`, `set`, `close`) abort the `signal` in the thread, and end the thread
 * 100 ms later, or as soon as the load has settled. Synchronous code is interrupted too.
 *
 * The function that it returns rejects with what the load threw: an error of the same built-in class with its name,
 * message, stack, cause and all properties that can be cloned; what it said of `Retry-After` holds. If it came to nothing
 * by something else, it rejects with a {@link WorkerError}, whose `code` says what. It settles when the thread has
 * ended. Each concurrent call has a thread of its own, up to `concurrency`. A thread of a background load does not
 * keep the process alive. What the module prints appears here.
 *
 * @param module an absolute URL or path.
 * @throws {OptionError} when an option breaks a rule.
 */
export function loadInWorker<M = unknown>(
  module: URL | string,
  options?: LoadInWorkerOptions,
): WorkerLoad<M> {
  const { transfer = true, resourceLimits, env, previous, concurrency = 4 } = options ?? {};
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
    const { signal, background, args } = askedBy(given, previous);
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
      return runThread(plan);
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
