import type { EventOf, TicklessEvent } from '../../../../src/index.ts';
import { KEYS } from '../instance.ts';
import type { Change, LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** The rounding of instants, repeated at each step of the wall clock. */
const ROUNDING_MS = 3;

/**
 * For members without a lock: a read of a due subject starts a load if it may (rules 4 and 5: no cool-down
 * outlives its time, or a success), and a read of a fresh value does not emit `stale-served`.
 */
export class Starts implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  readonly #isKeyed: boolean;
  /** By its own clock, as all instants here. `undefined`: there was no success. */
  #loadedAt: number | undefined;
  /** The earliest and the latest due time, as far as known. */
  #dueFrom = Number.NEGATIVE_INFINITY;
  #dueBy = Number.NEGATIVE_INFINITY;
  #mayFrom = Number.NEGATIVE_INFINITY;
  #isInvalidated = false;
  #isTagged = false;
  #lastEnded: LoadRun | undefined;
  /** The serial of the first try of the present execution. */
  #firstTry = Infinity;
  /** The last in the order of loads and changes when the present execution was said to begin. */
  #startedAfter = Infinity;
  /** There were events since the last check. */
  #isMoving = false;
  /** A read should have started a load. */
  #isToStart = false;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
    this.#isKeyed = subject.id.includes('[');
  }

  reads(): void {
    const { instance, held } = this.#subject;
    const now = instance.machine.monotonic();
    if (held.isPaused || instance.closing !== 'no' || now < this.#mayFrom + ROUNDING_MS) return;
    if (now >= this.#dueBy + ROUNDING_MS * (1 + instance.wallSteps)) this.#isToStart = true;
  }

  began({ attempt, serial }: LoadRun): void {
    this.#isMoving = true;
    // A key may join the call of another one at a later try of that.
    if (attempt === 1 || this.#firstTry === Infinity) this.#firstTry = serial;
  }

  ended(run: LoadRun): void {
    this.#isMoving = true;
    this.#lastEnded = run;
  }

  emitted(event: TicklessEvent): void {
    const now = this.#subject.instance.machine.monotonic();
    if (event.type === 'stale-served') {
      this.#world.referee.holds('results', now >= this.#dueFrom, () => {
        return `${this.#subject.id}: it is said to be stale ${(this.#dueFrom - now).toFixed(1)} ms before it is due`;
      });
      return;
    }
    if (event.type === 'load-started') {
      this.#firstTry = Infinity;
      this.#startedAfter = this.#world.last;
    }
    if (event.type !== 'load-ended') return;
    const { outcome, at, retryAt } = event;
    this.#isMoving = true; // after a late result its place is free: the next load begins in the next macrotask
    if (outcome === 'loaded' || outcome === 'kept') this.#succeeded(event, now);
    if (retryAt !== undefined) this.#mayFrom = now + retryAt - at;
  }

  changed({ kind }: Change): void {
    this.#isToStart = false; // no longer required
    if (kind === 'set') {
      this.#isTagged = false;
      this.#mayFrom = Number.NEGATIVE_INFINITY;
      this.#planned(this.#subject.instance.machine.monotonic());
    }
    if (kind === 'invalidate' || kind === 'drop') this.#isDue();
    if (kind === 'tag' && this.#isTagged) this.#isDue();
    if (kind === 'drop') this.#loadedAt = undefined;
    if (kind === 'reschedule' && this.#loadedAt !== undefined && !this.#isInvalidated) {
      this.#planned(this.#loadedAt);
      this.#dueFrom = Number.NEGATIVE_INFINITY;
      if (this.#subject.instance.wallSteps > 0) this.#dueBy = Infinity; // small steps are not noticed
    }
  }

  stepped(): void {
    const { id, status, instance } = this.#subject;
    const isUnderWay = this.#isMoving || status?.running === true || instance.closing !== 'no';
    this.#world.referee.holds('starts', !this.#isToStart || isUnderWay, () => {
      return `${id}: it is due and was read, and no load is under way`;
    });
    this.#isToStart = this.#isMoving = false;
  }

  unseen(): void {
    this.#isToStart = this.#isMoving = false;
  }

  #succeeded({ outcome, isAbsent }: EventOf<'load-ended'>, now: number): void {
    this.#mayFrom = Number.NEGATIVE_INFINITY;
    const serial = this.#lastEnded?.serial ?? 0;
    if (outcome === 'loaded') this.#isTagged = this.#world.tagged.has(serial);
    if (isAbsent) {
      this.#isDue();
      this.#mayFrom = now + this.#world.scenario.period;
      return;
    }
    this.#planned(now);
    if (this.#world.said.has(serial)) this.#unknown();
    // It was invalidated while it was loaded, in whichever of its tries.
    const { mark } = this.#subject;
    if (mark === undefined || mark.kind === 'set') return;
    if (Math.min(this.#firstTry, serial) < mark.order) this.#isDue();
    // The call had still to wait for a place: the member may load once more, to be safe.
    else if (this.#startedAfter < mark.order) this.#dueFrom = Number.NEGATIVE_INFINITY;
  }

  /** Due a delay later, if the schedule is a delay. */
  #planned(loadedAt: number): void {
    this.#loadedAt = loadedAt;
    this.#isInvalidated = false;
    const { delay } = this.#isKeyed ? { delay: this.#world.scenario.period } : this.#subject.options;
    if (delay === undefined) {
      this.#unknown();
      return;
    }
    this.#dueBy = loadedAt + delay; // of keys at the latest: their first due time is spread
    const isSure = !this.#isKeyed && this.#subject.instance.wallSteps === 0;
    this.#dueFrom = isSure ? loadedAt + delay - ROUNDING_MS : Number.NEGATIVE_INFINITY;
  }

  #isDue(): void {
    this.#isInvalidated = true;
    this.#dueFrom = this.#dueBy = Number.NEGATIVE_INFINITY;
  }

  #unknown(): void {
    this.#dueFrom = Number.NEGATIVE_INFINITY;
    this.#dueBy = Infinity;
  }
}

/** Its state is fully known: no other instance loads it, and it cannot be evicted. */
export function startsAreKnown({ options, id }: Subject, { scenario }: World): boolean {
  return options.lockName === undefined && (!id.includes('[') || scenario.maxKeys === KEYS.length);
}
