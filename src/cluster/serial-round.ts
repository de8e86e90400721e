import type { Entry } from '../engine/entry.ts';
import type { LoadContext } from '../engine/load-context.ts';
import { Deferred } from '../time/deferred.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type ClusterState, clusterStateOf, type RoundUnderWay } from './cluster-state.ts';
import type { HeldLease } from './held-lease.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import type { MemberLock } from './member-lock.ts';

/** A round of an entry, from its place behind the round before it to its end: it begins when that is over. */
export abstract class SerialRound<T> implements RoundUnderWay {
  abstract readonly isLoading: boolean;
  protected readonly member: ClusterMember;
  protected readonly entry: Entry<T>;
  protected readonly state: ClusterState;
  /** The round before, until it is over. */
  protected before: RoundUnderWay | undefined;
  protected lease: HeldLease | undefined;
  readonly #over: Deferred<void> = new Deferred();
  readonly #published: Deferred<void> = new Deferred();

  constructor(member: ClusterMember, entry: Entry<T>) {
    this.member = member;
    this.entry = entry;
    this.state = clusterStateOf(entry);
    this.before = this.state.round;
    this.state.round = this;
  }

  abstract requireFresh(): void;
  abstract allowsAdoption(version: number): boolean;
  abstract overtakenBy(version: number): void;
  abstract fenced(): void;
  abstract readonly mayFence: boolean;
  abstract previous(): Promise<LoadContext['previous']> | undefined;

  get over(): Promise<void> {
    return this.#over.promise;
  }

  abstract get writing(): Promise<void> | undefined;

  get published(): Promise<void> {
    return this.#published.promise;
  }

  get isHolder(): boolean {
    return this.lease !== undefined && !this.lease.isLost;
  }

  /** Gives the lease back, if there is one. Never rejects. */
  protected release(outcome: () => ReleaseOutcome): Promise<unknown> {
    const { lock } = this.member;
    return this.lease === undefined ? Promise.resolve() : (lock as MemberLock).release(this.lease, outcome);
  }

  /** Its result is in the store, or there is none. */
  protected hasPublished(): void {
    this.#published.resolve();
  }

  /** It is over: the next round begins. */
  protected end(): void {
    this.hasPublished();
    if (this.state.round === this) this.state.round = undefined;
    this.#over.resolve();
  }
}
