import type { Mark } from '../data/mark.ts';
import type { PublishOrigin } from '../data/origin.ts';
import type { ValueMeta } from '../data/value-meta.ts';
import type { VersionMaker } from '../data/version-record.ts';
import type { CompletedLoad } from '../engine/coordinator.ts';
import { type Entry, keyOf } from '../engine/entry.ts';
import { isLimitScheduled } from '../engine/next-execution.ts';
import { type StoredHeaders, storedHeaders } from '../schedule/stored-headers.ts';
import { keepAbsentFor } from './absent-records.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import type { HeldLease } from './held-lease.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import type { MemberLock } from './member-lock.ts';
import type { MemberStore } from './member-store.ts';
import type { Pin } from './pin.ts';
import { pinEnded } from './pinned-entry.ts';
import { ageLimitOf, HOLD_SLACK_MS } from './remote-snapshots.ts';
import type { SnapshotMetadata } from './snapshot.ts';
import type { EncodedBody } from './snapshot-body.ts';
import type { Settle, WriteRight } from './snapshot-writer.ts';

/** An entry right after a result was applied, whatever happens to the entry later. */
export interface PublishRecord extends CompletedLoad {
  readonly value: unknown;
  readonly loadedAt: number;
  readonly dueAt: number;
  readonly isDueTimeOverridden: boolean;
  readonly maxStaleness: number | undefined;
  readonly isLimitScheduled: boolean;
  readonly tags: readonly string[] | undefined;
  readonly meta: ValueMeta | undefined;
  readonly headers: StoredHeaders | undefined;
  readonly absentUntil: number;
  /** The version is held in place by a person. */
  readonly pin: Pin | undefined;
  /** For `history`. */
  readonly made: VersionMaker;
  readonly origin: PublishOrigin | undefined;
  /** It is a mark: there is no value. */
  readonly mark: Mark | undefined;
  /** A person has it published: see `manual-round.ts`. */
  readonly isManual: boolean;
  /** A caller has asked for the load. */
  readonly isForced: boolean;
  /** The value is still that of this version. */
  readonly kept: number | undefined;
  /** See {@link KnownOfResult}. */
  readonly encoded: Promise<EncodedBody> | undefined;
}

/** Records an entry as it is now. */
export function publishRecord(
  { options }: ClusterMember,
  entry: Entry<unknown>,
  completed: CompletedLoad,
): PublishRecord {
  const { maxStalenessMs } = entry;
  const { as, pin } = clusterStateOf(entry).held;
  const isUsual = maxStalenessMs === options.maxStalenessMs;
  return {
    ...completed,
    value: entry.value,
    loadedAt: entry.loadedAt,
    dueAt: entry.dueAt,
    isDueTimeOverridden: !entry.isScheduled,
    // Only if it differs from the option: the load returned it, or the schedule. Of a pinned version: that of its load.
    maxStaleness: pin && as === 'published' ? pin.maxStalenessMs : isUsual ? undefined : maxStalenessMs,
    isLimitScheduled: pin === undefined && isLimitScheduled(entry),
    tags: entry.tags,
    meta: entry.last?.meta,
    headers: storedHeaders(entry.last?.headers),
    absentUntil: entry.coolDownUntil,
    pin: undefined,
    made: 'load',
    origin: undefined,
    mark: undefined,
    isManual: false,
    isForced: false,
    kept: undefined,
    encoded: undefined,
  };
}

/**
 * The outcome of a publication. `shared`: other instances find it in the store now. `overtaken`: there is a newer one.
 * `unwritten`: the store could not be written, or the lease is over.
 */
export type Published = 'shared' | 'overtaken' | 'unwritten';

/** A publication that has ended. */
interface Publication {
  readonly as: Published;
  /** The length of the text that was written; `undefined`: nothing was. */
  readonly bytes?: number;
  /** The lease has ended with it. */
  readonly isReleased?: boolean;
  /** The version that the store has now; 0: that is not known. */
  readonly version: number;
}

const NOT_WRITTEN: Publication = { as: 'unwritten', version: 0 };

/**
 * Writes a record into the store. Never rejects.
 *
 * @param by the lease of its load, or the change of a person.
 * @param settle makes that change, or ends the lease too.
 */
export async function publish(
  member: ClusterMember,
  store: MemberStore,
  entry: Entry<unknown>,
  record: PublishRecord,
  by: WriteRight,
  settle: Settle,
): Promise<Publication> {
  const { value, loadedAt, pin, mark, kept, isManual, encoded } = record;
  const metadata = (): SnapshotMetadata => metadataOf(record, member.options.clock.monotonic());
  const state = clusterStateOf(entry);
  const isInPlace = (): boolean => mark === undefined && entry.value === value && entry.loadedAt === loadedAt;
  state.publishing = { version: by.token, isInPlace };
  const mayEqual = !isManual && mark === undefined;
  const result = { kept, mayEqual, encoded };
  const written = await store.writer.write(entry, value, metadata, by, result, settle);
  state.publishing = undefined;
  if (written?.answer === undefined || written.answer.kind === 'lost') return NOT_WRITTEN;
  const { answer, confirms, bytes, isReleased } = written;
  const { version } = answer;
  if (answer.kind === 'refused') {
    if (!isManual) {
      member.events.round({ outcome: 'publish-refused', token: by.token, version, ...keyOf(entry) });
      overtaken(member, entry, record, version);
    }
    return { as: 'overtaken', version };
  }
  const token = isManual ? version : by.token;
  if (confirms !== undefined) state.confirmed(version, token ?? 0, isInPlace());
  else if (mark !== undefined) state.marked(version);
  else {
    const before = state.held;
    state.happened({ on: 'written', version, pin, isInPlace: isInPlace() });
    if (state.held.pin === undefined) pinEnded(entry, before, member);
  }
  member.events.round({ outcome: 'published', token, version, bytes, ...keyOf(entry) });
  // Of keys, checks ask for their invalidation log.
  const isSignalled = member.options.kind !== 'key' && (record.isManual || record.isForced);
  if (isSignalled && confirms === undefined) member.signals?.send(member);
  return { as: 'shared', bytes, isReleased, version };
}

/** As of that moment: the codec may take its time. */
function metadataOf(record: PublishRecord, now: number): SnapshotMetadata {
  const {
    isAbsent,
    isDueTimeOverridden,
    maxStaleness,
    isLimitScheduled,
    tags,
    meta,
    headers,
    took,
    pin,
    made,
    origin,
    mark,
  } = record;
  return {
    isAbsent,
    age: mark === undefined ? Math.max(0, now - record.loadedAt) : 0,
    isDueTimeOverridden,
    took,
    maxStaleness,
    isLimitScheduled,
    tags,
    meta,
    headers,
    pinned: pin && { by: pin.by, note: pin.note },
    made,
    origin,
    mark,
    dueIn: Math.max(0, (isAbsent ? record.absentUntil : record.dueAt) - now),
  };
}

/**
 * Publishes a record, then releases the lease as done until its due time; at once if other instances can't find it.
 * Never rejects.
 *
 * @param published called when the store has it, or could not be written; `undefined`: there is nothing to publish.
 */
export async function publishAndRelease(
  member: ClusterMember,
  entry: Entry<unknown>,
  record: PublishRecord,
  lease: HeldLease,
  published: (outcome: Published | undefined, bytes?: number) => void,
): Promise<void> {
  const { store, options } = member;
  const lock = member.lock as MemberLock; // it has given the lease
  const isTask = options.kind === 'task';
  const { dueAt, isAbsent, absentUntil } = record;
  const end = (isShared: boolean, confirms?: string): ReleaseOutcome => {
    const left = Math.max(0, (isAbsent ? absentUntil : dueAt) - options.clock.monotonic());
    const holdFor = isShared ? Math.min(left, LONGEST_LEASE_MS) : 0;
    const keepFor = isAbsent ? keepAbsentFor(left - holdFor) : undefined;
    return { as: 'done', holdFor, keepFor, ...(confirms ? { confirms } : {}) };
  };
  const settle: Settle = (change) =>
    lock.settle(lease, end(true, change.as === 'confirm' ? change.text : undefined), change);
  const publication = store && (await publish(member, store, entry, record, lease, settle));
  const outcome = publication?.as;
  published(outcome, publication?.bytes);
  const isShared = isTask || outcome === 'shared';
  const isReleased = publication?.isReleased || (await lock.release(lease, () => end(isShared)));
  if (isReleased && isShared) held(member, entry, dueAt);
}

/** The hold of a round began a moment later than its due time was computed. */
export function held({ timing }: ClusterMember, entry: Entry<unknown>, dueAt: number): void {
  if (entry.dueAt !== dueAt || dueAt === Infinity) return;
  const later = Math.min(dueAt + HOLD_SLACK_MS, ageLimitOf(entry));
  timing.heldUntil(entry, Math.max(dueAt, later));
}

/** The store has a newer version. The next read looks for it. */
function overtaken(
  { timing }: ClusterMember,
  entry: Entry<unknown>,
  { dueAt }: PublishRecord,
  version: number,
): void {
  const state = clusterStateOf(entry);
  state.happened({ on: 'refused' });
  // Invalidated here meanwhile, it waits for a load that began after that.
  const awaitsLoad = entry.isInvalidated && state.expectedToken === undefined;
  if (!awaitsLoad) state.expectedToken = version;
  if (entry.dueAt === dueAt) timing.dueFromNow(entry);
}
