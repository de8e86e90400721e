// Loads in worker threads.

export { type LoadInWorkerOptions, loadInWorker, type ThreadLimits } from './load-in-worker.ts';
export { isWorkerError, WorkerError, type WorkerErrorCode } from './worker-error.ts';
export type { WorkerLoad } from './worker-load.ts';
