import { isFailedLoad } from '../engine/read-errors.ts';
import { showName, type TicklessError } from '../errors.ts';
import { firstFew, printable } from '../printable.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import { showDuration } from '../time/show-duration.ts';
import type { HealthProblem, Member } from './member.ts';

/** A wait for first loads. */
export interface Readiness {
  readonly promise: Promise<void>;
  /** Ends the wait. */
  readonly end: () => void;
}

/**
 * Executes each member or key until it has succeeded: one that fails is tried again after its cool-down, until the
 * deadline. Its timers keep the process alive meanwhile. Never rejects.
 */
export function allReady(members: readonly Member[], clock: Clock, timeoutMs: number): Readiness {
  const timers = new Set<Timer>();
  const over = new Deferred<void>();
  // The loads go on, and do not keep the process alive for a wait that has ended.
  const wait = new AbortController();

  function end(): void {
    wait.abort();
    for (const timer of timers) timer.cancel();
    over.resolve();
  }
  function after(ms: number, action: () => void): void {
    const timer = clock.setTimeout(() => {
      timers.delete(timer);
      action();
    }, ms);
    timer.ref();
    timers.add(timer);
  }
  async function untilLoaded(firstLoad: () => Promise<void>): Promise<void> {
    while (!wait.signal.aborted) {
      try {
        await firstLoad();
        return;
      } catch (error) {
        if (!isFailedLoad(error)) return; // paused, closed
        const { retryAt = 0 } = error as TicklessError;
        const pause = Math.max(0, retryAt - clock.now());
        await new Promise<void>((go) => after(pause, go));
      }
    }
  }

  if (timeoutMs < Infinity) after(timeoutMs, end);
  Promise.all(members.flatMap((member) => member.firstLoads(wait.signal)).map(untilLoaded)).then(end);
  return { promise: over.promise, end };
}

/** At most this number of members is named in the line, each with that many characters. */
const MOST_NAMED = 5;
const LONGEST_REASON = 160;

/** The line of a `ready()` that has ended with members missing, with the reason of each. */
export function notReadyLine(
  problems: readonly HealthProblem[],
  required: number,
  timeoutMs: number,
): string {
  const fatal = problems.filter(({ isFatal }) => isFatal);
  const reasonOf = ({ name, message }: HealthProblem): string =>
    `${showName(name)}: ${printable(message, LONGEST_REASON)}`;
  const reasons = firstFew(fatal, MOST_NAMED, reasonOf, '; ');
  const which = `${fatal.length} of ${required} required members`;
  return `not ready within ${showDuration(timeoutMs)}, ${which}: ${reasons}`;
}
