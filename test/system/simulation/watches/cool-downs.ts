import type { EventOf, TicklessEvent } from '../../../../src/index.ts';
import { RETRY_AFTER_S } from '../source.ts';
import type { Call, Change, LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/**
 * Rule 5: after a failure there is a cool-down, in which no read starts a load. That of a schedule that could not name the next
 * instant is over when another schedule names one, and when the value has its age limit.
 */
export class CoolDowns implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  #failures = 0;
  /** A load has failed in this step. */
  #hasFailed = false;
  #mayHaveRecovered = false;
  /** By its own clock. */
  #noneBefore = Number.NEGATIVE_INFINITY;
  /** From when the age of the value counts, by its own clock. */
  #loadedAt = Number.NEGATIVE_INFINITY;
  /** The present cool-down is that of a schedule, not of a load. */
  #isOfSchedule = false;
  /** What has started the last load of its own. */
  #startedBy: string | undefined;

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
    if (event.type === 'load-started') this.#startedBy = event.trigger;
    if (event.type === 'round' && event.outcome === 'done') this.#foundDone();
    if (event.type === 'load-ended') this.#loadEnded(event);
  }

  #loadEnded(event: EventOf<'load-ended'>): void {
    const { outcome, age, retryAt } = event;
    const isSuccess = outcome === 'loaded' || outcome === 'kept' || outcome === 'adopted';
    const before = this.#failures;
    if (isSuccess && (outcome !== 'adopted' || this.#subject.options.holdsValue)) {
      this.#over();
      this.#loadedAt = this.#subject.instance.machine.monotonic() - (age ?? 0);
    }
    if (retryAt !== undefined) this.#begun(event, isSuccess ? before : this.#failures);
  }

  /** For a task it counts as a success, unless a caller has forced a run. */
  #foundDone(): void {
    if (this.#subject.options.holdsValue) {
      this.#mayHaveRecovered ||= this.#isAwaitedSinceBeforeDrop();
      return;
    }
    this.#mayHaveRecovered = true;
    this.#noneBefore = Number.NEGATIVE_INFINITY;
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

  /** Those of a schedule that fails without a load are in the status alone. */
  stepped(): void {
    const { status, id } = this.#subject;
    if (status === undefined) return;
    const { failures } = status;
    const isRight = failures === this.#failures || this.#mayHaveRecovered;
    this.#world.referee.holds(5, !this.#hasFailed || isRight, () => {
      return `${id}: ${failures} failures in a row are reported, not ${this.#failures}`;
    });
    if (this.#hasFailed) this.#mayHaveRecovered = false;
    this.#failures = failures;
    this.#hasFailed = false;
  }

  unseen(): void {
    this.#hasFailed = false;
  }

  /** @param before the failures in a row. */
  #begun({ outcome, at, error, retryAt = 0 }: EventOf<'load-ended'>, before: number): void {
    const { id, instance } = this.#subject;
    const isOfLoad = outcome !== 'loaded' && outcome !== 'kept';
    this.#isOfSchedule = !isOfLoad;
    this.#failures = before + 1;
    this.#hasFailed = true;
    const delay = retryAt - at;
    const rest = asksForRest(error) ? RETRY_AFTER_S * 1000 : 0;
    const isWithin = (failures: number): boolean => {
      const span = this.#span(failures);
      return delay >= Math.max(rest, span / 2) - 1 && delay <= Math.max(rest, span) + 1;
    };
    const isRight = isWithin(this.#failures) || (this.#mayHaveRecovered && isWithin(1));
    this.#world.referee.holds(
      5,
      isRight,
      () => `${id}: failure ${this.#failures} cools down for ${delay} ms`,
    );
    const tooOldAt = isOfLoad ? Infinity : this.#loadedAt + this.#world.scenario.maxStaleness;
    this.#noneBefore = Math.min(instance.machine.monotonic() + delay - 1, tooOldAt); // whole milliseconds
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
