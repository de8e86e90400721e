import type { ControlledMember } from '../engine/control.ts';
import { Board } from './board.ts';
import { THIS_EDITION } from './board-codec.ts';
import type { ClusterMember } from './cluster-member.ts';
import {
  type ControlRecord,
  datedRecord,
  type NamedPause,
  pausedAfter,
  withPauses,
} from './control-record.ts';
import type { VersionPoll } from './version-poll.ts';
import { WeakMembers } from './weak-members.ts';

/** A change, with the member for which it was made here. */
interface MemberChange extends NamedPause {
  readonly host: ControlledMember;
  readonly member: ClusterMember;
}

/**
 * How long before the record is published again, so that the retention of the store does not end it, in milliseconds. Up to
 * twice as long, so that instances do not do it together: the others learn of it by their checks.
 */
const RENEWED_AFTER_MS = 3_600_000;

/**
 * The pauses of members on all instances: publishes those of this instance, and follows those of the others. All members that
 * use a store object share a board, so that a check asks about one name more however many members there are.
 */
export class Controls extends Board<ControlRecord, MemberChange> {
  readonly #checks: VersionPoll;
  readonly #members: WeakMembers<ControlledMember, ClusterMember> = new WeakMembers();
  /** The most impatient of them, as which checks ask. */
  #soonest: WeakRef<ClusterMember> | undefined;
  /** As which the record is read for each of them. */
  readonly #readers: WeakMap<ClusterMember, ClusterMember> = new WeakMap();
  /** When the record is published again (monotonic). */
  #renewAt = Infinity;

  constructor(checks: VersionPoll) {
    super({});
    this.#checks = checks;
  }

  join(host: ControlledMember, member: ClusterMember): void {
    const { poller = member } = this;
    this.#members.set(host, member);
    this.#askAs(sooner(poller, member));
    // The member may still be under construction.
    queueMicrotask(() => {
      if (this.#members.get(host) === member)
        this.#follow(host, pausedAfter(this.board, member.options.name, 0, []));
    });
  }

  leave(host: ControlledMember): void {
    const left = this.#members.get(host);
    this.#members.delete(host);
    if (left !== this.#soonest?.deref()) return;
    this.#soonest = undefined;
    const { poller } = this;
    if (poller !== undefined) this.#askAs(poller);
    else this.#checks.leave(this);
  }

  /** Checks ask about the record as often as the most impatient of the members wants. */
  #askAs(soonest: ClusterMember): void {
    if (soonest === this.#soonest?.deref()) return;
    this.#soonest = new WeakRef(soonest);
    this.#checks.join(this, soonest, soonest.propagateWithinMs);
  }

  get poller(): ClusterMember | undefined {
    const soonest = this.#soonest?.deref();
    if (soonest !== undefined) return soonest;
    const [first, ...others] = Array.from(this.#members, ([, member]) => member);
    return first && others.reduce(sooner, first);
  }

  protected get member(): ClusterMember | undefined {
    const { poller } = this;
    const reader = poller && (this.#readers.get(poller) ?? poller.forControl());
    if (poller !== undefined && reader !== undefined) this.#readers.set(poller, reader);
    return reader;
  }

  protected memberFor({ member }: MemberChange): ClusterMember {
    return member.forControl();
  }

  /** A record that is to be published again counts as newer than the one here. */
  override get knownVersion(): number {
    return super.knownVersion - (this.#isOld ? 1 : 0);
  }

  get #isOld(): boolean {
    return this.poller !== undefined && this.poller.options.clock.monotonic() >= this.#renewAt;
  }

  override async adoptNewer(version?: number, waits?: boolean): Promise<void> {
    await super.adoptNewer(version, waits);
    const [writer] = this.#members;
    if (!this.#isOld || writer === undefined) return;
    const [host, member] = writer;
    const { options } = member;
    this.#renewLater(options, options.clock.monotonic()); // also where it can't be published now
    await this.publish({ host, member, name: options.name, isPaused: undefined }).catch(() => {});
  }

  protected changed(record: ControlRecord, changes: readonly MemberChange[]): ControlRecord {
    return withPauses(record, changes, THIS_EDITION);
  }

  protected dated(record: ControlRecord, version: number): ControlRecord {
    return datedRecord(record, version);
  }

  protected without(record: ControlRecord): ControlRecord {
    return record;
  }

  protected override shared(changes: readonly MemberChange[]): void {
    for (const change of changes) {
      const { options } = change.member;
      this.#renewLater(options, options.clock.monotonic());
      // Others of that name in this process.
      for (const [host, member] of this.#members) {
        if (host !== change.host && member.options.name === change.name) this.#follow(host, change.isPaused);
      }
    }
  }

  protected taken(after: number, writtenAt: number): void {
    for (const [host, member] of this.#members) {
      this.#renewLater(member.options, writtenAt);
      const own = this.unpublished.filter((change) => change.host === host);
      this.#follow(host, pausedAfter(this.board, member.options.name, after, own));
    }
  }

  #follow(host: ControlledMember, isPaused: boolean | undefined): void {
    if (isPaused === true) host.pause();
    if (isPaused === false) host.resume();
  }

  #renewLater({ random }: ClusterMember['options'], from: number): void {
    this.#renewAt = from + RENEWED_AFTER_MS * (1 + random());
  }
}

function sooner(one: ClusterMember, other: ClusterMember): ClusterMember {
  return other.propagateWithinMs < one.propagateWithinMs ? other : one;
}

const all: WeakMap<VersionPoll, Controls> = new WeakMap();

/** Those of the store of a member; `undefined`: it takes no part in checks. */
export function controlsOf({ checks }: ClusterMember): Controls | undefined {
  if (checks === undefined) return undefined;
  const controls = all.get(checks) ?? new Controls(checks);
  all.set(checks, controls);
  return controls;
}
