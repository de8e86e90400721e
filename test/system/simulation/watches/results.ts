import { isTicklessError } from '../../../../src/index.ts';
import type { Holding } from '../held.ts';
import type { Call, Loaded, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** The difference of two clocks. */
const ROUNDING_MS = 0.01;
/** A clock of a machine may be quicker than the time of the world. */
const SLOWEST_CLOCK = 0.999;

/**
 * A read returns the held value: that of its call if it did not wait, else one since. The value is not older
 * than `maxStaleness` unless a stale value may be served. And a read is rejected only for a reason.
 */
export class Results implements Watch {
  readonly #subject: Subject;
  readonly #world: World;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  settled(call: Call): void {
    const { outcome, what } = call;
    if (outcome === undefined) return;
    if ('error' in outcome) this.#isJustified(call, outcome.error);
    else if (what !== 'request' && what !== 'execute') this.#isRight(call, outcome.value);
  }

  #isRight({ what, order, held, isServed, isOfMany }: Call, value: unknown): void {
    const { id, held: now } = this.#subject;
    const isHeld = isServed ? value === held.value : value === held.value || now.hasHeld(value, order);
    this.#holds(value !== undefined && (isHeld || this.#wasDropped(order, value as Loaded)), () => {
      const which = (loaded: unknown): string => `${(loaded as Loaded | undefined)?.serial}`;
      return `${id}: ${what} (${order}) got load ${which(value)}, and ${which(held.value)} was held when it was called`;
    });
    const present = now.now;
    // It may have been replaced since; a read of many keys waits for the last.
    if (what === 'refresh' || isOfMany || present.value !== value || present.age === undefined) return;
    this.#holds(present.age <= this.#limit + ROUNDING_MS, () => {
      return `${id}: ${what} (${order}) got load ${(value as Loaded).serial}, which is ${present.age?.toFixed(1)} ms old`;
    });
  }

  /**
   * The value was dropped while the call waited for a load or a snapshot: the call gets the result, which is not held. A
   * snapshot may be of a load that had ended before.
   */
  #wasDropped(order: number, { serial }: Loaded): boolean {
    const endedAt = this.#world.freshness.get(serial)?.by?.endedAt ?? 0;
    const { hasStore } = this.#world.scenario;
    return this.#subject.drops.some((drop) => order < drop.order && (hasStore || endedAt >= drop.at));
  }

  #isJustified({ what, order, at, held, isOfMany, patience }: Call, error: unknown): void {
    const { id, instance, held: now } = this.#subject;
    const refused = (isSo: boolean): void => {
      this.#holds(isSo, () => `${id}: ${what} (${order}) is rejected without a reason: ${error}`);
    };
    if (isTicklessError(error, 'CLOSED')) refused(instance.closing !== 'no');
    else if (isTicklessError(error, 'ABSENT')) {
      // An absence that was found by a load or in a snapshot, and is not kept: the key was dropped meanwhile.
      const wasDropped = this.#subject.drops.some((drop) => order < drop.order);
      refused(id.includes('[') && (now.wasAbsent(order) || wasDropped));
    } else if (isTicklessError(error, 'TOO_STALE')) {
      // The age of one that was found unchanged elsewhere is unknown.
      const isTooOld = ({ value, age }: Holding): boolean =>
        value !== undefined && (age === undefined || age > this.#limit - ROUNDING_MS);
      refused(what !== 'refresh' && (isTooOld(held) || isTooOld(now.now)));
    } else if (isTicklessError(error, 'NOT_LOADED')) {
      const isEmpty = now.now.value === undefined && !isOfMany;
      const isImpatient = this.#world.timeline.now >= at + patience * SLOWEST_CLOCK;
      // A value in place from before the last invalidation does not answer a read that came after it.
      const isOutdated = String(error).includes('is paused, and its value was invalidated');
      const isPaused = now.wasPaused(order) && (isEmpty || isOutdated);
      refused(what === 'current' ? isEmpty : isImpatient || isPaused);
    } else if (isTicklessError(error, 'TIMED_OUT')) {
      // Rule 19: a reader that waits to the end of its time has had a load under way until then.
      this.#world.referee.holds(19, isOfMany || this.#subject.status?.running !== false, () => {
        return `${id}: ${what} (${order}) has waited, and no load was under way`;
      });
    } else if (what === 'current') refused(false);
  }

  /** The age beyond which it must not be served. */
  get #limit(): number {
    return this.#subject.options.mayBeTooStale ? this.#world.scenario.maxStaleness : Infinity;
  }

  #holds(isSo: boolean, message: () => string): void {
    this.#world.referee.holds('results', isSo, message);
  }
}
