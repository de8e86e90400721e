import type { Clock } from './clock.ts';
import { onNextTurn } from './on-next-turn.ts';

/** Lets the event loop make a turn: other callbacks run before the promise resolves. */
export type EventLoopYield = () => Promise<void>;

const waiting: (() => void)[] = [];

/**
 * Resolves on a later turn of the event loop: for one caller a turn, in the order of the calls, so that the slices of
 * several pieces of work do not add up. Resolves at once where the event loop can't be waited for (`onNextTurn`). Never
 * rejects.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) admitLater();
  });
}

/** Whether work in slices is under way. */
export function areYieldsAwaited(): boolean {
  return waiting.length > 0;
}

/** Late work waits for a turn after this many slices. */
const LATE_SLICES = 8;

/**
 * {@link yieldToEventLoop} after each slice until an instant (monotonic), then after every 8th, and not at all after twice the
 * time: on a busy event loop the turns take longer than the work, which has to end.
 */
export function yieldsFor(clock: Pick<Clock, 'monotonic'>, ms: number): EventLoopYield {
  const startedAt = clock.monotonic();
  let lateSlices = 0;
  return async () => {
    const took = clock.monotonic() - startedAt;
    if (took >= ms) lateSlices += 1;
    if (took < ms || (took < 2 * ms && lateSlices % LATE_SLICES === 0)) await yieldToEventLoop();
  };
}

function admitLater(): void {
  if (onNextTurn(admit)) return;
  for (const resolve of waiting.splice(0)) resolve();
}

function admit(): void {
  waiting.shift()?.();
  if (waiting.length > 0) admitLater();
}
