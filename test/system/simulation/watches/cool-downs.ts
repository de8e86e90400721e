import type { EventOf, TicklessEvent } from '../../../../src/index.ts';
import { RETRY_AFTER_S } from '../source.ts';
import {
  type Call,
  type Change,
  isKeptElsewhere,
  type LoadRun,
  type Subject,
  type Watch,
} from '../subject.ts';
import type { World } from '../world.ts';

/**
 * Rule 5: after a failure there is a cool-down, in which no read starts a load. That of a schedule that could not name the next
 * instant is over when another schedule names one, and when the value has its age limit.
 */
export class CoolDowns implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  #failures = 0;
  /** The number of failures before the load that has just succeeded. */
  #before = 0;
  #mayHaveRecovered = false;
  /** By its own clock. */
  #noneBefore = Number.NEGATIVE_INFINITY;
  /** From when the age of the value counts, by its own clock. */
  #loadedAt = Number.NEGATIVE_INFINITY;
  /** The present cool-down is that of a schedule, not of a load. */
  #isOfSchedule = false;
  /** What has started the last load of its own. */
  #startedBy: string | undefined;
  /** The data of the last event of a failure. */
  #lastFailure: unknown;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  began({ serial, trigger: ofCall, attempt, isBatched }: LoadRun): void {
    const trigger = isBatched ? this.#startedBy : ofCall; // a call for many keys has the trigger of one of them
    const isByRead = (trigger === 'due' || trigger === 'first') && attempt === 1;
    if (!isByRead || this.#subject.id.endsWith('nightly')) return;
    const left = this.#noneBefore - this.#subject.instance.machine.monotonic();
    this.#world.referee.holds(5, left <= 0, () => {
      return `${this.#subject.id}: load ${serial} begins ${left.toFixed(1)} ms before the cool-down ends`;
    });
  }

  emitted(event: TicklessEvent): void {
    if (event.type !== 'cooling-down') this.#before = 0;
    switch (event.type) {
      case 'load-started':
        this.#startedBy = event.trigger;
        break;
      case 'load-failed':
      case 'load-timed-out': {
        this.#lastFailure = event.error;
        this.#failures += 1;
        const rest = asksForRest(event.error) ? RETRY_AFTER_S * 1000 : 0;
        const least = Math.max(rest, this.#span(this.#failures) / 2);
        this.#noneBefore = this.#subject.instance.machine.monotonic() + least;
        break;
      }
      case 'cooling-down':
        this.#begun(event);
        break;
      case 'load-succeeded':
      case 'load-kept': {
        const before = this.#failures;
        this.#over();
        this.#loadedAt = isKeptElsewhere(event)
          ? Number.NEGATIVE_INFINITY
          : this.#subject.instance.machine.monotonic();
        this.#before = before;
        break;
      }
      case 'snapshot-adopted':
        this.#over();
        this.#loadedAt = this.#subject.instance.machine.monotonic() - event.age;
        break;
      case 'round-done-elsewhere': // for a task it counts as a success, unless a caller has forced a run
        if (this.#subject.options.holdsValue) {
          this.#mayHaveRecovered ||= this.#isAwaitedSinceBeforeDrop();
          break;
        }
        this.#mayHaveRecovered = true;
        this.#noneBefore = Number.NEGATIVE_INFINITY;
        break;
    }
  }

  /** A read with patience waits since before the last drop: it reads again when that load has ended. */
  #isAwaitedSinceBeforeDrop(): boolean {
    const { drops, waiting } = this.#subject;
    const order = drops.at(-1)?.order ?? 0;
    return [...waiting].some((call) => call.order < order);
  }

  /** A snapshot that answers those who waited before a drop is a success, though it is not adopted. */
  settled({ hasWaited, outcome }: Call): void {
    if (hasWaited && outcome !== undefined && 'value' in outcome) this.#mayHaveRecovered = true;
  }

  changed({ kind }: Change): void {
    if (kind === 'set' || (kind === 'reschedule' && this.#isOfSchedule)) this.#over();
    if (kind === 'set') this.#loadedAt = this.#subject.instance.machine.monotonic();
  }

  #over(): void {
    this.#mayHaveRecovered = false;
    this.#failures = 0;
    this.#isOfSchedule = false;
    this.#noneBefore = Number.NEGATIVE_INFINITY;
  }

  #begun({ delay, failures, error }: EventOf<'cooling-down'>): void {
    const { id, instance } = this.#subject;
    const isOfLoad = error === this.#lastFailure;
    this.#isOfSchedule = !isOfLoad;
    // The schedule failed. Right after a load that is one more failure in a row.
    if (!isOfLoad) this.#failures = Math.max(this.#failures, this.#before) + 1;
    this.#before = 0;
    const span = this.#span(failures);
    const rest = asksForRest(error) ? RETRY_AFTER_S * 1000 : 0;
    const isWithin = delay >= Math.max(rest, span / 2) - 1e-6 && delay <= Math.max(rest, span) + 1e-6;
    this.#world.referee.holds(5, isWithin, () => `${id}: failure ${failures} cools down for ${delay} ms`);
    if (this.#mayHaveRecovered && failures === 1) this.#failures = 1;
    this.#mayHaveRecovered = false;
    this.#world.referee.holds(5, failures === this.#failures, () => {
      return `${id}: ${failures} failures in a row are reported, not ${this.#failures}`;
    });
    const tooOldAt = isOfLoad ? Infinity : this.#loadedAt + this.#world.scenario.maxStaleness;
    this.#noneBefore = Math.min(instance.machine.monotonic() + delay, tooOldAt);
  }

  /** The longest cool-down by the documentation. */
  #span(failures: number): number {
    const { initial, factor, max } = this.#subject.options.coolDown;
    return Math.min(max, initial * factor ** (failures - 1));
  }
}

function asksForRest(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if ('retryAfter' in at) return true;
  return false;
}
