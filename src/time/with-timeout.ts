import { type Clock, systemClock } from './clock.ts';
import { showDuration } from './show-duration.ts';

/** There was no answer in time. An error of the work itself may have the same code. */
export class NoAnswerError extends Error {
  readonly code = 'ETIMEDOUT';

  /** @param what did not answer, or what it was asked to do. */
  constructor(timeoutMs: number, what?: string) {
    super(`no answer within ${showDuration(timeoutMs)}${what === undefined ? '' : ` (${what})`}`);
  }
}

/**
 * Waits for an outside answer, at most `timeoutMs`: a client may queue a command for ever while its server is gone.
 * A later answer is dropped. The timer does not keep the process alive.
 *
 * Rejects with the error that `work` throws or rejects with, or with a {@link NoAnswerError}.
 *
 * @param what the step, for that error.
 */
export function withTimeout<R>(
  work: () => R | PromiseLike<R>,
  timeoutMs: number,
  clock: Pick<Clock, 'setTimeout'> = systemClock,
  what?: string,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const answer = new Promise<R>((start) => start(work())); // first: a deadline within it is not after this one
    const timer = clock.setTimeout(() => reject(new NoAnswerError(timeoutMs, what)), timeoutMs);
    const cancel = (): void => timer.cancel();
    answer.then(cancel, cancel);
    answer.then(resolve, reject);
  });
}
