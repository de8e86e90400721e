import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { Timing } from '../engine/timing.ts';
import { Counters } from '../observe/counters.ts';
import { Events } from '../observe/member-events.ts';
import { LazyAbort } from '../time/lazy-abort.ts';
import type { BackendAccess } from './backend-access.ts';
import type { LockSteps } from './backend-steps.ts';
import { ClusterLog } from './cluster-log.ts';
import { controlCodec } from './control-record.ts';
import { EntryNames } from './entry-names.ts';
import { invalidationLogCodec, type MarksOnKeys } from './invalidation-log.ts';
import { MemberLock } from './member-lock.ts';
import { MemberStore } from './member-store.ts';
import { CONTROL } from './namespace.ts';
import type { ServerClock } from './server-clock.ts';
import type { SignalPort } from './signal-contract.ts';
import type { StoreAccess } from './store-access.ts';
import type { Codec } from './store-contract.ts';
import type { StoreFleet } from './store-fleet.ts';
import type { VersionPoll } from './version-poll.ts';

/** One member in the cluster: its options and events, its lock and its store. */
export class ClusterMember {
  readonly options: ResolvedOptions;
  readonly events: Events;
  readonly timing: Timing;
  readonly names: EntryNames;
  readonly lock: MemberLock | undefined;
  /** `undefined` also of a task, which has no value: of its store it uses the reports only. */
  readonly store: MemberStore | undefined;
  readonly log: ClusterLog;
  /** Those of its store; `undefined`: it takes no part in them. */
  readonly checks: VersionPoll | undefined;
  /** Those of a task, which leave its reports. */
  readonly reports: Pick<VersionPoll, 'report'> | undefined;
  /** The instances that use its store; `undefined`: it has none. */
  readonly fleet: StoreFleet | undefined;
  /** Aborted when it is closed. */
  readonly closing: LazyAbort = new LazyAbort();
  /** How long after another instance it takes over a change at the latest, in milliseconds; `Infinity`: at its next load. */
  readonly propagateWithinMs: number;
  /** Tell other instances of changes that people make. */
  readonly signals: SignalPort | undefined;
  /** Those on its keys; `undefined`: it has none, or takes no part in checks. */
  marks: MarksOnKeys | undefined = undefined;
  readonly #storeAccess: StoreAccess | undefined;

  /**
   * @param codec of its snapshots. @default that of the store
   * @param record the name of its record. @default that of the member
   */
  constructor(
    options: ResolvedOptions,
    events: Events,
    timing: Timing,
    lock: BackendAccess<LockSteps> | undefined,
    store: StoreAccess | undefined,
    serverClock: ServerClock | undefined,
    codec?: Codec,
    record?: string,
  ) {
    const log = new ClusterLog(options, lock, store);
    this.propagateWithinMs = store === undefined ? Infinity : options.propagateWithinMs;
    const isTask = options.kind === 'task'; // which has no snapshots: its store is for reports, and for pauses
    this.checks = this.propagateWithinMs < Infinity ? store?.checks : undefined;
    this.reports = isTask ? store?.checks : undefined;
    this.signals = store?.signals;
    this.#storeAccess = store;
    this.fleet = store?.fleet;
    this.log = log;
    this.options = options;
    this.events = events;
    this.timing = timing;
    this.names = new EntryNames(options, record);
    const context = { options, events, log, names: this.names };
    this.store = store && !isTask ? new MemberStore(context, store, codec) : undefined;
    this.lock = lock && new MemberLock(context, lock, serverClock);
  }

  /** The same member as it reads and writes the invalidation log of its keys: a value of the same name, in a format of its own. */
  forInvalidationLog(): ClusterMember {
    return this.#forRecord(invalidationLogCodec);
  }

  /** The same for the record of paused members, under a name of its own. */
  forControl(): ClusterMember {
    return this.#forRecord(controlCodec, CONTROL);
  }

  #forRecord(codec: Codec, record?: string): ClusterMember {
    const options = {
      ...this.options,
      kind: 'value',
      schema: undefined,
      propagateWithinMs: Infinity,
    } as const;
    return new ClusterMember(
      options,
      new Events(options.name, options, new Counters()),
      this.timing,
      undefined,
      this.#storeAccess,
      undefined,
      codec,
      record,
    );
  }
}
