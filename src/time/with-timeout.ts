import { type Clock, systemClock } from './clock.ts';
import { showDuration } from './show-duration.ts';

/**
 * Waits for an outside answer, at most `timeoutMs`: a client may queue a command for ever while its server is gone.
 * A later answer is dropped. The timer does not keep the process alive.
 *
 * Rejects with the error that `work` throws or rejects with, or with an `Error` of the code `ETIMEDOUT`.
 */
export function withTimeout<R>(
  work: () => R | PromiseLike<R>,
  timeoutMs: number,
  clock: Pick<Clock, 'setTimeout'> = systemClock,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const answer = new Promise<R>((start) => start(work())); // first: a deadline within it is not after this one
    const timer = clock.setTimeout(() => {
      reject(Object.assign(new Error(`no answer within ${showDuration(timeoutMs)}`), { code: 'ETIMEDOUT' }));
    }, timeoutMs);
    const cancel = (): void => timer.cancel();
    answer.then(cancel, cancel);
    answer.then(resolve, reject);
  });
}
