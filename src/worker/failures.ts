// What is said of a load in a thread that came to nothing.

import type { FailedStep } from './protocol.ts';
import { WorkerError } from './worker-error.ts';

export function notAsked(cause: unknown): WorkerError {
  const message = 'the key, or what is told of the previous value, can not be cloned into the thread';
  return new WorkerError('ERR_TICKLESS_WORKER_CLONE', message, { cause });
}

export function notStarted(cause: unknown): WorkerError {
  return new WorkerError('ERR_TICKLESS_WORKER_START', 'the thread could not be started', { cause });
}

/** @param thrown in the thread. */
export function failedAt(step: FailedStep, thrown: unknown, module: string): unknown {
  switch (step) {
    case 'load':
      return thrown;
    case 'module': {
      const message = `the module ${shown(module)} can not be loaded`;
      return new WorkerError('ERR_TICKLESS_WORKER_MODULE', message, { cause: thrown });
    }
    case 'clone': {
      const message = 'what the load returned can not be cloned';
      return new WorkerError('ERR_TICKLESS_WORKER_CLONE', message, { cause: thrown });
    }
  }
}

/** @param error what the event `error` of a `Worker` brought. */
export function endedBy(error: unknown): WorkerError {
  switch ((error as { code?: unknown } | undefined)?.code) {
    case 'ERR_WORKER_OUT_OF_MEMORY':
      return new WorkerError('ERR_TICKLESS_WORKER_MEMORY', 'the thread ran out of memory', { cause: error });
    case 'ERR_WORKER_INIT_FAILED':
      return notStarted(error);
    default: {
      const message = 'nothing caught an error in the thread';
      return new WorkerError('ERR_TICKLESS_WORKER_CRASH', message, { cause: error });
    }
  }
}

export function exited(exitCode: number): WorkerError {
  const message = `the thread ended without an answer, with exit code ${exitCode}`;
  return new WorkerError('ERR_TICKLESS_WORKER_EXIT', message, { exitCode });
}

/** A `data:` URL holds the whole module. */
const LONGEST_MODULE = 200;

function shown(module: string): string {
  return module.length > LONGEST_MODULE ? `${module.slice(0, LONGEST_MODULE)}…` : module;
}
