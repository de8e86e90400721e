// The errors of loads in threads.

import type { FailedStep } from './protocol.ts';
import { WorkerError } from './worker-error.ts';

export function argumentsNotCloneable(cause: unknown): WorkerError {
  const message =
    'the key, or the part of the previous value picked by `previous`, cannot be cloned into the thread';
  return new WorkerError('ERR_TICKLESS_WORKER_CLONE', message, { cause });
}

export function startFailed(cause: unknown): WorkerError {
  return new WorkerError('ERR_TICKLESS_WORKER_START', 'the thread could not be started', { cause });
}

/** @param thrown the value that was thrown in the thread. */
export function failedAt(step: FailedStep, thrown: unknown, module: string): unknown {
  switch (step) {
    case 'load':
      return thrown;
    case 'module': {
      const message = `the module ${shown(module)} cannot be loaded`;
      return new WorkerError('ERR_TICKLESS_WORKER_MODULE', message, { cause: thrown });
    }
    case 'clone': {
      const message = 'the result of the load cannot be cloned';
      return new WorkerError('ERR_TICKLESS_WORKER_CLONE', message, { cause: thrown });
    }
  }
}

/** @param cause why the message of the thread can't be read. */
export function unreadable(cause: unknown): WorkerError {
  const message = 'a message of the thread cannot be read';
  return new WorkerError('ERR_TICKLESS_WORKER_PROTOCOL', message, { cause });
}

/** @param error the error of the event `error` of a `Worker`. */
export function crashed(error: unknown): WorkerError {
  switch ((error as { code?: unknown } | undefined)?.code) {
    case 'ERR_WORKER_OUT_OF_MEMORY':
      return new WorkerError('ERR_TICKLESS_WORKER_MEMORY', 'the thread ran out of memory', { cause: error });
    case 'ERR_WORKER_INIT_FAILED':
      return startFailed(error);
    default: {
      const message = 'an uncaught error ended the thread';
      return new WorkerError('ERR_TICKLESS_WORKER_CRASH', message, { cause: error });
    }
  }
}

export function exited(exitCode: number): WorkerError {
  const message = `the thread exited with code ${exitCode} before the load had settled`;
  return new WorkerError('ERR_TICKLESS_WORKER_EXIT', message, { exitCode });
}

/** A `data:` URL holds the whole module. */
const LONGEST_MODULE = 200;

function shown(module: string): string {
  return module.length > LONGEST_MODULE ? `${module.slice(0, LONGEST_MODULE)}…` : module;
}
