import { FakeClock } from '../../src/testing/index.ts';
import type { Timer } from '../../src/time/clock.ts';

/** Counts the timers that keep the process alive. */
export class HoldingClock extends FakeClock {
  held = 0;

  override setTimeout(callback: () => void, delayMs: number): Timer {
    let isHeld = false;
    const hold = (next: boolean): void => {
      if (isHeld !== next) this.held += next ? 1 : -1;
      isHeld = next;
    };
    const timer = super.setTimeout(() => {
      hold(false);
      callback();
    }, delayMs);
    return {
      ref: () => hold(true),
      unref: () => hold(false),
      cancel: () => {
        hold(false);
        timer.cancel();
      },
    };
  }
}
