import type { Message } from './network.ts';
import type { LoadRun } from './subject.ts';
import type { World } from './world.ts';

/** The error of fast or slow clocks. */
const ROUNDING_MS = 3;

/**
 * The locked task: after a successful run no instance runs it again before `lockAtLeastFor` has passed since its start.
 */
export class Nightly {
  readonly #world: World;
  readonly #atLeastMs: number;
  /** The time of the first request of each lease. */
  readonly #askedAt: Map<string, number> = new Map();
  /** The last successful run. */
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
    // A backend that has lost its data may grant a lease while the answer of an earlier one is on its way.
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
