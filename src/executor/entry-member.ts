import type { HealthProblem, Member, Seat } from '../membership.ts';
import type { Policy } from '../policy.ts';
import { startableFrom } from './decide.ts';
import type { Entry } from './entry.ts';
import { entryHealth, gateHealth } from './health.ts';
import type { Keeper } from './keeper.ts';
import type { Refresher } from './refresher.ts';

/** A value or an executor as a member of a group. */
export class EntryMember<T> implements Member, Keeper<T> {
  readonly name: string;
  readonly isRequired: boolean;
  readonly status: () => unknown;
  readonly #policy: Policy;
  readonly #entry: Entry<T>;
  readonly #refresher: Refresher<T>;
  readonly #seat: Seat;
  /** The load under way is one that the group has started. */
  #isStarted = false;

  /** Joins the group of the policy. @param status what the group shows of it. */
  constructor(policy: Policy, entry: Entry<T>, refresher: Refresher<T>, status: () => unknown) {
    this.name = policy.name;
    this.isRequired = policy.isRequired;
    this.status = status;
    this.#policy = policy;
    this.#entry = entry;
    this.#refresher = refresher;
    this.#seat = (policy.family as NonNullable<Policy['family']>).join(this);
    refresher.keptBy(this, this.#seat.door);
    this.#plan();
  }

  changed(): void {
    this.#plan();
    if (!this.#isStarted || this.#entry.flight !== undefined) return;
    this.#isStarted = false;
    this.#seat.ended();
  }

  turned(): void {
    if (this.#refresher.gate === 'closed') this.#seat.leave();
    else this.#plan();
  }

  admit(): void {}

  isOutdated(): boolean {
    return false;
  }

  startNext(_until: number, hold: boolean): boolean {
    // A listener may have ended it at once.
    this.#isStarted = this.#refresher.startAhead(this.#entry, hold) && this.#entry.flight !== undefined;
    return this.#isStarted;
  }

  compareClocks(): void {
    this.#refresher.compareClocks(this.#entry, this.#policy.clock.monotonic());
  }

  health(): HealthProblem[] {
    const { whenTooStale, whenClosed, clock } = this.#policy;
    const now = clock.monotonic();
    this.#refresher.compareClocks(this.#entry, now);
    const problems = entryHealth(this.#entry, { whenTooStale, whenClosed }, this, now);
    return [...gateHealth(this.#refresher.gate, this.name), ...problems];
  }

  close(timeoutMs: number): Promise<void> {
    return this.#refresher.close(timeoutMs);
  }

  async firstLoad(): Promise<void> {
    if (!this.#entry.isLoaded) await this.#refresher.requestStart(this.#entry, true, undefined);
  }

  #plan(): void {
    this.#seat.plan(
      this.#refresher.gate === 'open' ? startableFrom(this.#entry, this.#seat.lookAheadMs) : Infinity,
    );
  }
}
