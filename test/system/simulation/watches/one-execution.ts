import type { TicklessEvent } from '../../../../src/index.ts';
import { wordOf } from '../../../support/events.ts';
import type { LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** The greatest lateness of a timer. */
const LATE_MS = 10;
const ROUNDING_MS = 0.01;

/** Rule 1: never two live executions of one executor or key; one past its deadline is aborted. Rule 4: it ends. */
export class OneExecution implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** The first try of the last load. */
  #first: LoadRun | undefined;
  /** When the time of its readers began, by its own clock. */
  #waitedSince = 0;
  /** It said "not modified" of a value that was forgotten meanwhile: the next load is for the same readers. */
  #isRepeated = false;
  /** Since when its status says `running`, by its own clock. */
  #runningSince: number | undefined;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  began(run: LoadRun): void {
    const most = this.#world.scenario.retries + 1;
    this.#world.referee.holds('retry', run.attempt <= most, () => {
      return `${this.#subject.id}: load ${run.serial} is try ${run.attempt} of ${most}`;
    });
    if (run.attempt === 1) {
      this.#first = run;
      this.#isRepeated = false;
    }
    for (const other of this.#subject.running) {
      if (other === run || other.isBatched) continue;
      this.#world.referee.holds(1, other.signal.aborted, () => {
        return `${this.#subject.id}: load ${run.serial} begins while load ${other.serial} is live`;
      });
    }
  }

  /** Rule 19: those that wait for both loads have one time-out. */
  ended({ brought, begunAt }: LoadRun): void {
    this.#isRepeated = brought === 'kept' && this.#subject.drops.some(({ at }) => at >= begunAt);
  }

  emitted(event: TicklessEvent): void {
    this.#runningSince = undefined; // possibly another flight
    const { id, instance, options } = this.#subject;
    const first = this.#first;
    // It may wait in line for a place of the group.
    if (event.type === 'load-started' && !this.#isRepeated) this.#waitedSince = instance.machine.monotonic();
    // With a lock, or with other keys, the deadline begins before the load.
    const isTimedOut = wordOf(event) === 'timed-out' && first !== undefined;
    if (!isTimedOut || first.isBatched || options.lockName !== undefined) return;
    const after = instance.machine.monotonic() - this.#waitedSince;
    this.#world.referee.holds('timeout', after >= options.timeout - ROUNDING_MS, () => {
      return `${id}: load ${first.serial} is said to have timed out after ${after.toFixed(1)} ms`;
    });
  }

  changed(): void {
    this.#runningSince = undefined;
  }

  unseen(): void {
    this.#runningSince = undefined;
  }

  stepped(): void {
    const { id, instance, options, running } = this.#subject;
    if (!instance.machine.isAwake) {
      this.#runningSince = undefined;
      return;
    }
    const now = instance.machine.monotonic();
    for (const { isBatched, signal, begunAtOwn, serial } of running) {
      const isPast = !isBatched && !signal.aborted && now > begunAtOwn + options.timeout + LATE_MS;
      this.#world.referee.holds(1, !isPast, () => `${id}: load ${serial} goes on past its deadline`);
    }
    if (this.#subject.status?.running !== true) this.#runningSince = undefined;
    else this.#runningSince ??= now;
    const isStuck = now > (this.#runningSince ?? now) + options.timeout + LATE_MS;
    this.#world.referee.holds(4, !isStuck, () => `${id}: its status is running past its deadline`);
  }
}
