import { startableFrom } from '../engine/decide.ts';
import { type Entry, waitersOf } from '../engine/entry.ts';
import type { EntryOwner } from '../engine/entry-owner.ts';
import { entryHealth, gateHealth } from '../engine/health.ts';
import type { Refresher } from '../engine/refresher.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { GroupSlot, HealthProblem, Member, StartOfOne } from './membership.ts';

/** A value or an executor as a member of a group. */
export class EntryMember<T> implements Member, EntryOwner<T> {
  readonly name: string;
  readonly isRequired: boolean;
  readonly validSince: number = Number.NEGATIVE_INFINITY;
  readonly status: () => unknown;
  readonly #policy: ResolvedOptions;
  readonly #entry: Entry<T>;
  readonly #refresher: Refresher<T>;
  readonly #seat: GroupSlot;
  /** Tells the group that the load has ended which it had started. */
  #ended: (() => void) | undefined;
  /** When the round began in which the group started it last. */
  #round: number = Number.NEGATIVE_INFINITY;

  /** Joins the group of the policy. @param status what the group shows of it. */
  constructor(policy: ResolvedOptions, entry: Entry<T>, refresher: Refresher<T>, status: () => unknown) {
    this.name = policy.name;
    this.isRequired = policy.isRequired;
    this.status = status;
    this.#policy = policy;
    this.#entry = entry;
    this.#refresher = refresher;
    this.#seat = (policy.family as NonNullable<ResolvedOptions['family']>).join(this);
    refresher.keptBy(this, this.#seat.door);
    this.#plan();
  }

  changed(): void {
    this.#plan();
    if (this.#entry.flight === undefined) this.#end();
  }

  release(): void {
    this.changed();
  }

  turned(): void {
    if (this.#refresher.gate === 'closed') this.#seat.leave();
    else this.#plan();
  }

  began(): void {}

  admit(): void {}

  isOutdated(): boolean {
    return false;
  }

  startNext(start: StartOfOne): boolean {
    this.#end(); // should it be just landing
    this.#round = this.#seat.afterRound();
    const isStarted = this.#refresher.startAhead(this.#entry, start.until, this.#seat.lookAheadMs);
    if (isStarted) this.#ended = start.ended;
    this.#plan();
    return isStarted;
  }

  hold(): void {
    if (this.#entry.flight !== undefined) void waitersOf(this.#entry).end();
  }

  look(): void {}

  compareClocks(): void {
    this.#refresher.compareClocks(this.#entry, this.#policy.clock.monotonic());
  }

  health(): HealthProblem[] {
    const now = this.#policy.clock.monotonic();
    this.#refresher.compareClocks(this.#entry, now);
    const { gate } = this.#refresher;
    const problems = entryHealth(this.#entry, { ...this.#policy, gate }, now);
    return [...gateHealth(gate, this.name), ...problems, ...this.#refresher.clusterHealth()];
  }

  close(timeoutMs: number): Promise<void> {
    return this.#refresher.close(timeoutMs);
  }

  async firstLoad(): Promise<void> {
    if (!this.#entry.isLoaded) await this.#refresher.requestStart(this.#entry, true, undefined);
  }

  #end(): void {
    const ended = this.#ended;
    this.#ended = undefined;
    ended?.();
  }

  #plan(): void {
    const from = startableFrom(this.#entry, this.#seat.lookAheadMs);
    this.#seat.plan(this.#refresher.gate === 'open' ? Math.max(from, this.#round) : Infinity);
  }
}
