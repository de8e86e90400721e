import type { Clock, Timer } from '../../time/clock.ts';

/**
 * The clock of one process, on the time of the cluster. A stopped process runs no timer and gets no answer until it
 * continues; a killed one never does.
 */
export class VirtualMachine implements Clock {
  readonly #time: Clock;
  /** By how much the wall clock is ahead, in milliseconds. */
  readonly #aheadMs: () => number;
  #missed: (() => void)[] | undefined;
  #isKilled = false;

  constructor(time: Clock, aheadMs: () => number) {
    this.#time = time;
    this.#aheadMs = aheadMs;
  }

  now(): number {
    return this.#time.now() + this.#aheadMs();
  }

  monotonic(): number {
    return this.#time.monotonic();
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    let isCancelled = false;
    const fire = (): void => {
      if (!isCancelled) callback();
    };
    const timer = this.#time.setTimeout(() => this.run(fire), delayMs);
    const cancel = (): void => {
      isCancelled = true;
      timer.cancel();
    };
    return { ...timer, cancel };
  }

  /** Runs it now, when the process continues, or never. */
  run(job: () => void): void {
    if (this.#isKilled) return;
    if (this.#missed === undefined) job();
    else this.#missed.push(job);
  }

  get isStopped(): boolean {
    return this.#missed !== undefined;
  }

  stop(): void {
    this.#missed ??= [];
  }

  /** Runs the jobs that were missed, in their order. */
  continue(): void {
    const missed = this.#missed ?? [];
    this.#missed = undefined;
    for (const job of missed) this.run(job);
  }

  kill(): void {
    this.#isKilled = true;
    this.#missed = undefined;
  }
}
