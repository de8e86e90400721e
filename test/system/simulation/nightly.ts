import type { Message } from './message.ts';
import type { LoadRun } from './subject.ts';
import type { World } from './world.ts';

/** The error of fast or slow clocks. */
const ROUNDING_MS = 3;

/**
 * The locked task: after a successful run no instance runs it again before `lockAtLeastFor` has passed since it started,
 * by the clock of the backend, and it is held back no longer than that and the time for which the release has waited for its
 * turn. A run whose release does not reach the backend holds others back until its lease is over.
 */
export class Nightly {
  readonly #world: World;
  readonly #atLeastMs: number;
  readonly #runs: Map<number, LoadRun> = new Map();
  /** The successful run with the highest token. */
  #last: LoadRun | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#atLeastMs = world.scenario.leaseFor / 2;
  }

  /** A release: the hold is what is left of the time since the start of the run. */
  sent({ name, token, as, holdFor = 0 }: Message): void {
    const run = name === 'nightly' && as === 'done' ? this.#runs.get(token as number) : undefined;
    if (run === undefined) return;
    const { subject, begunAtOwn, serial } = run;
    const left = Math.max(0, begunAtOwn + this.#atLeastMs - subject.instance.machine.monotonic());
    const over = holdFor - left;
    const isRight = over > -ROUNDING_MS && over < ROUNDING_MS + subject.instance.link.hasWaitedMs;
    this.#world.referee.holds('tasks', isRight, () => {
      return `${subject.id}: run ${serial} holds the next one back for ${holdFor.toFixed(1)} ms, not ${left.toFixed(1)}`;
    });
  }

  began(run: LoadRun): void {
    const { serial, subject, token } = run;
    if (token !== undefined) this.#runs.set(token, run);
    const lease = this.#leaseOf(this.#last);
    // A backend that has lost its data may grant a lease while the answer of an earlier one is on its way.
    if (lease?.ending?.state !== 'done' || lease.isForgotten || this.#leaseOf(run)?.isForgotten) return;
    const from = (this.#last as LoadRun).begunAt + this.#atLeastMs - ROUNDING_MS;
    const early = from - this.#world.timeline.now;
    this.#world.referee.holds('tasks', early <= 0, () => {
      return `${subject.id}: run ${serial} begins ${early.toFixed(1)} ms before lockAtLeastFor is over`;
    });
  }

  ended(run: LoadRun): void {
    if (run.brought === 'error' || run.wasStopped) return;
    if ((run.token ?? 0) > (this.#last?.token ?? 0)) this.#last = run;
  }

  #leaseOf(run: LoadRun | undefined): ReturnType<World['leases']['of']> {
    return run?.token === undefined ? undefined : this.#world.leases.of('nightly', run.token);
  }
}
