import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import {
  type CacheOptions,
  RefreshingCache,
  RefreshingValue,
  type ValueOptions,
} from '../../../src/index.ts';
import { type LoadInWorkerOptions, loadInWorker, type WorkerError } from '../../../src/worker/index.ts';
import { rejectionOf } from '../../support/settle.ts';

/** A module without a file. Vitest does not transform the code of threads, so it is plain JavaScript. */
export function moduleOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** A load in a thread, by the code of its module. */
export function loadOf(
  code: string,
  options?: LoadInWorkerOptions,
): (...args: unknown[]) => Promise<unknown> {
  return loadInWorker(moduleOf(code), options);
}

/** The result of such a load. */
export async function answerOf(code: string, options?: LoadInWorkerOptions): Promise<unknown> {
  return loadOf(code, options)();
}

/** The error of such a load. */
export async function failureOf(code: string, options?: LoadInWorkerOptions): Promise<WorkerError> {
  return (await rejectionOf(answerOf(code, options))) as WorkerError;
}

export function valueFrom(
  code: string,
  { worker, ...options }: Partial<ValueOptions<unknown>> & { worker?: LoadInWorkerOptions } = {},
): RefreshingValue<unknown> {
  const load = loadOf(code, worker);
  const value = new RefreshingValue<unknown>({ name: 'v', load, logger: false, ...options });
  onTestFinished(() => void value.close({ timeout: 0 }));
  return value;
}

export function cacheOf(options: Partial<CacheOptions<unknown, unknown>>): RefreshingCache<unknown, unknown> {
  const cache = new RefreshingCache<unknown, unknown>({ name: 'c', logger: false, ...options });
  onTestFinished(() => void cache.close({ timeout: 0 }));
  return cache;
}

/** How many threads of this process live. */
export function threadCount(): number {
  return (process.report.getReport() as unknown as { workers: unknown[] }).workers.length;
}

/** Waits in real time until the condition holds. */
export async function until(holds: () => boolean, timeoutMs: number = 10_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`still not after ${timeoutMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** An integer that threads share with the test, 0 at first; passed to the load as its key. */
export function sharedInt(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** `keep`, `loaded` and `absent` as a module for threads: the URL to import them from, to stand in single quotes. */
export async function answersModule(): Promise<string> {
  const entry = fileURLToPath(new URL('../../../src/engine/load-result.ts', import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'esm', write: false });
  return moduleOf(outputFiles[0]?.text as string).href.replaceAll("'", '%27');
}
