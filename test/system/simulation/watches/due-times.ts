import type { TicklessEvent } from '../../../../src/index.ts';
import { CALENDAR_MS } from '../instance.ts';
import type { Change, LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** The rounding of clocks, and clocks that were compared up to a minute ago. */
const ROUNDING_MS = 1;

/**
 * Rule 9, for members without a lock. A delay is elapsed time, also when the wall clock steps: no read starts a load
 * before
 * it is over. A calendar schedule is at most a minute behind, and no step of the clock starts a storm.
 */
export class DueTimes implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** The end of the last success, by its own monotonic clock. */
  #lastAt: number | undefined;
  #isSaidByLoad = false;
  /** Loads that a calendar schedule started. */
  #calendarLoads = 0;
  readonly #since: number;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
    this.#since = subject.instance.machine.monotonic();
  }

  /** It may begin later, when it has a place of the group. */
  emitted(event: TicklessEvent): void {
    const { id, options, instance } = this.#subject;
    if (event.type !== 'load-started' || event.trigger !== 'due') return;
    if (options.delay === undefined || this.#lastAt === undefined || this.#isSaidByLoad) return;
    const early = this.#lastAt + options.delay - instance.machine.monotonic();
    this.#world.referee.holds(9, early <= ROUNDING_MS, () => {
      return `${id}: a load is started ${early.toFixed(1)} ms before it is due`;
    });
  }

  ended({ brought, wasStopped, endedAtOwn, serial, trigger }: LoadRun): void {
    if (wasStopped || brought === undefined || brought === 'absent' || brought === 'error') return;
    const isByCalendar =
      this.#subject.options.delay === undefined && trigger === 'due' && !this.#isSaidByLoad;
    if (isByCalendar) this.#calendar(endedAtOwn ?? 0);
    this.#lastAt = endedAtOwn;
    this.#isSaidByLoad = this.#world.said.has(serial);
  }

  changed({ kind }: Change): void {
    if (kind === 'set') {
      this.#lastAt = this.#subject.instance.machine.monotonic();
      this.#isSaidByLoad = false;
    }
    // A load that ended in between may have been dropped.
    if (kind === 'invalidate' || kind === 'drop') this.#lastAt = undefined;
    if (kind === 'reschedule' && this.#subject.waiting.size > 0) this.#lastAt = undefined; // they get their load
  }

  #calendar(now: number): void {
    this.#calendarLoads += 1;
    const { id, instance } = this.#subject;
    // A step makes it due once, and again at the next instant of the calendar, which may be soon after.
    const most = Math.ceil((now - this.#since) / CALENDAR_MS) + 2 * instance.wallSteps + 1;
    this.#world.referee.holds(9, this.#calendarLoads <= most, () => {
      return `${id}: ${this.#calendarLoads} calendar loads in ${(now - this.#since).toFixed(0)} ms`;
    });
  }
}
