import type { Machine } from './machine.ts';
import type { Link } from './network.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';

/** No check of the store comes within the time of a world. */
export const NO_CHECKS_MS: number = 1000 * 86_400_000;

/** The world of a process, as far as a process needs it. */
interface Surroundings {
  readonly timeline: Timeline;
  readonly trace: Trace;
}

/** One process of a service: a machine, and its connection to the backend. */
export abstract class Process {
  readonly name: string;
  readonly machine: Machine;
  readonly link: Link;
  /** `close()` was called; the second time: it has ended. */
  closing: 'no' | 'closing' | 'closed' = 'no';
  /** The number of steps of its wall clock. */
  wallSteps: number = 0;
  /** Until then it is not inspected: an inspection compares the clocks. */
  unseenUntil: number = 0;
  /** When it, its connection or the backend was last not well; kept by `Troubles`, where that counts. */
  faultAt: number = Number.NEGATIVE_INFINITY;
  /** The same, or when it last waited for the answer of a command that was sent by then. */
  troubledAt: number = Number.NEGATIVE_INFINITY;
  readonly #surroundings: Surroundings;

  constructor(name: string, machine: Machine, link: Link, surroundings: Surroundings) {
    this.name = name;
    this.machine = machine;
    this.link = link;
    this.#surroundings = surroundings;
  }

  /** It must not be inspected now. */
  get isUnseen(): boolean {
    return this.#surroundings.timeline.now < this.unseenUntil;
  }

  stepWall(ms: number): void {
    this.wallSteps += 1;
    this.machine.stepWall(ms);
    this.#surroundings.trace.add(this.name, () => `its wall clock is stepped by ${ms.toFixed(0)} ms`);
  }

  /** A load runs, where a fault has the most effect. */
  abstract get isLoading(): boolean;

  /** Closes all of its members. */
  protected abstract closeAll(timeout: number): Promise<unknown>;

  close(timeout: number): Promise<unknown> {
    this.closing = 'closing';
    return this.closeAll(timeout).then(() => {
      this.closing = 'closed';
    });
  }
}
