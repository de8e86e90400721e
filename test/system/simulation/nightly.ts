import type { Message } from './network.ts';
import type { LoadRun } from './subject.ts';
import type { World } from './world.ts';

/** Clocks that run too fast or too slow. */
const ROUNDING_MS = 3;

/** The locked task: after a run that went well nobody runs it again before `lockAtLeastFor` is over, counted from its start. */
export class Nightly {
  readonly #world: World;
  readonly #atLeastMs: number;
  /** When each lease was asked for, the first time. */
  readonly #askedAt: Map<string, number> = new Map();
  /** The last run that went well. */
  #last: LoadRun | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#atLeastMs = world.scenario.leaseFor / 2;
  }

  sent({ name, requestId }: Message): void {
    if (name !== 'nightly' || requestId === undefined || this.#askedAt.has(requestId)) return;
    this.#askedAt.set(requestId, this.#world.timeline.now);
  }

  began(run: LoadRun): void {
    const { serial, subject } = run;
    const lease = this.#leaseOf(this.#last);
    // An engine that has lost its memory gives another lease beside one whose answer is still on its way.
    if (lease === undefined || lease.isForgotten || this.#leaseOf(run)?.isForgotten) return;
    const from = (this.#askedAt.get(lease.requestId) ?? 0) + this.#atLeastMs - ROUNDING_MS;
    const early = from - this.#world.timeline.now;
    this.#world.referee.holds('tasks', early <= 0, () => {
      return `${subject.id}: run ${serial} begins ${early.toFixed(1)} ms before lockAtLeastFor is over`;
    });
  }

  ended(run: LoadRun): void {
    if (run.brought !== 'error' && !run.wasStopped) this.#last = run;
  }

  #leaseOf(run: LoadRun | undefined): ReturnType<World['leases']['of']> {
    return run?.token === undefined ? undefined : this.#world.leases.of('nightly', run.token);
  }
}
