import type { Clock, Timer } from '../clock.ts';
import { isCoolingDownError, isLoadError, isLoadTimeoutError } from '../errors.ts';
import type { Member } from '../membership.ts';

/**
 * Executes each member until it has succeeded: one that fails again after its cool-down, until the deadline. Its timers
 * keep the process alive meanwhile. Never rejects.
 */
export function allReady(members: readonly Member[], clock: Clock, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timers = new Set<Timer>();
    let isOver = false;

    function end(): void {
      isOver = true;
      for (const timer of timers) timer.cancel();
      resolve();
    }
    function after(ms: number, action: () => void): void {
      const timer = clock.setTimeout(() => {
        timers.delete(timer);
        action();
      }, ms);
      timer.ref();
      timers.add(timer);
    }
    async function untilLoaded(member: Member): Promise<void> {
      while (!isOver) {
        try {
          await member.firstLoad();
          return;
        } catch (error) {
          if (isCoolingDownError(error)) await new Promise<void>((go) => after(error.retryAfter, go));
          else if (!isLoadError(error) && !isLoadTimeoutError(error)) return; // paused, closed
        }
      }
    }

    if (timeoutMs < Infinity) after(timeoutMs, end);
    Promise.all(members.map(untilLoaded)).then(end);
  });
}
