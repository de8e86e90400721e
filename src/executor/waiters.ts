import type { Clock } from '../clock.ts';
import { Deferred, ignoreRejection } from './deferred.ts';
import type { Entry } from './entry.ts';

/**
 * The next value of an entry with a flight under way: one promise for all who wait. It outlives a flight that is
 * superseded; the successor settles it.
 *
 * @param signal ends this wait only: rejects with its reason, the load goes on.
 */
export function nextValue<T>(entry: Entry<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise } = join(entry);
  if (signal === undefined) return promise;
  return ignoreRejection(
    new Promise((resolve, reject) => {
      const abandon = (): void => {
        leave(entry, promise);
        reject(signal.reason);
      };
      if (signal.aborted) return abandon();
      signal.addEventListener('abort', abandon, { once: true });
      const settle = (end: () => void): void => {
        signal.removeEventListener('abort', abandon);
        end();
      };
      promise.then(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
    }),
  );
}

/** Resolves when the load under way has ended, or patience has; never rejects. */
export function nextValueOrPatience<T>(
  entry: Entry<T>,
  patienceMs: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const controller = new AbortController();
  const timer = patienceMs === Infinity ? undefined : clock.setTimeout(() => controller.abort(), patienceMs);
  timer?.ref();
  const either = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  const end = (): void => timer?.cancel();
  return nextValue(entry, either).then(end, end);
}

/** Settles the wait of all who wait for the next value. */
export function settleWaiters<T>(entry: Entry<T>, settle: (waiting: Deferred<T>) => void): void {
  const { waiting } = entry;
  entry.waiting = undefined;
  entry.waiterCount = 0;
  if (waiting !== undefined) settle(waiting);
}

function join<T>(entry: Entry<T>): Deferred<T> {
  entry.waiting ??= new Deferred();
  if (entry.waiterCount++ === 0) entry.flight?.hold();
  return entry.waiting;
}

function leave<T>(entry: Entry<T>, promise: Promise<T>): void {
  if (entry.waiting?.promise === promise && --entry.waiterCount === 0) entry.flight?.release();
}
