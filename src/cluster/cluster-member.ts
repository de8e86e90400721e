import { type Entry, keyOf } from '../engine/entry.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import {
  isLockUnavailableError,
  isOptionError,
  isStoreUnavailableError,
  LockUnavailableError,
  lockName,
  OptionError,
  StoreUnavailableError,
} from '../errors.ts';
import type { Events } from '../observe/events.ts';
import { messageOf } from '../observe/logger.ts';
import { acquireLease, TRIES } from './acquire-lease.ts';
import { type Asked, type AskOptions, type BackendAccess, limited } from './backend-access.ts';
import { backendName, isWithin, LONGEST_NAME_BYTES } from './backend-name.ts';
import { ClusterLog } from './cluster-log.ts';
import { UndecodableError, withDamage } from './damage.ts';
import type { HeldLease } from './held-lease.ts';
import { thisHost } from './identity.ts';
import type { AcquireAnswer, LockProvider, ReleaseOutcome } from './lock-contract.ts';
import { namespacePrefix } from './namespace.ts';
import { isPlausibleToken } from './plausible.ts';
import type { ServerClock } from './server-clock.ts';
import { type SharedState, sharedStateOf } from './shared-state.ts';
import { decodeSnapshot, encodeBody, type Snapshot, type SnapshotMaker, withMetadata } from './snapshot.ts';
import type { Codec, SnapshotStore, WriteAnswer } from './store-contract.ts';
import { UnansweredRequests } from './unanswered-requests.ts';

/** The methods of a lock that members use. */
export interface LockSteps
  extends Pick<LockProvider, 'leaseFor' | 'longestName' | 'acquire' | 'extend' | 'release'> {
  /** A setting of the backend that breaks a promise, for the log; the first call only. Never rejects. */
  warning?(): Promise<string | undefined>;
}

/** The methods of a store that members use. */
export type StoreSteps = Pick<SnapshotStore, 'read' | 'write' | 'schema' | 'longestName'> & {
  readonly codec: Codec;
};

/** A step takes at most this part of the deadline, so that most of it is left for the load. */
const PART_OF_DEADLINE = 0.25;

/**
 * Where a store and a lock are asked in turn, this part of the time-out is for the store: so a reader without a value
 * waits for one time-out where both are down.
 */
const PART_OF_STORE = 0.75;

/** How long the load at hand waits for a backend. */
export interface BackendPatience {
  /** It waits while a backend that was down is probed. Else it goes on without the backend, and is the probe behind. */
  readonly waitsForProbe: boolean;
  /** When its first backend was asked (monotonic), where a reader without a value waits; `undefined`: none does. */
  readonly startedAt: number | undefined;
}

/** The answer of the lock, with the lease where there is one. */
export type Acquired =
  | { readonly kind: 'acquired'; readonly lease: HeldLease }
  | Exclude<AcquireAnswer, { readonly kind: 'acquired' }>
  | {
      readonly kind: 'unavailable';
      readonly error: LockUnavailableError;
      /** Milliseconds: it was not asked, and will not be for this long. 0: it was asked. */
      readonly restsFor: number;
    };

/** A snapshot from the store. */
export interface ReadSnapshot extends Snapshot {
  readonly version: number;
  /** When it was written (monotonic), or a little before. */
  readonly writtenAt: number;
  /** When it was loaded (monotonic), or a little before. */
  readonly loadedAt: number;
}

/** The lock and the store as one member uses them: asks them and reports what happens. */
export class ClusterMember {
  readonly options: ResolvedOptions;
  readonly events: Events;
  readonly lock: BackendAccess<LockSteps> | undefined;
  readonly store: BackendAccess<StoreSteps> | undefined;
  readonly #serverClock: ServerClock | undefined;
  readonly #log: ClusterLog;
  readonly #unanswered: UnansweredRequests | undefined;
  /** Why the last lease could not be had although the lock may be well: a record is damaged. */
  #leaseError: unknown;
  /** Why the last snapshot could not be written although the store may be well. */
  #writeError: unknown;

  constructor(
    options: ResolvedOptions,
    events: Events,
    lock: BackendAccess<LockSteps> | undefined,
    store: BackendAccess<StoreSteps> | undefined,
    serverClock: ServerClock | undefined,
  ) {
    this.options = options;
    this.events = events;
    this.lock = lock;
    this.store = store;
    this.#serverClock = serverClock;
    this.#log = new ClusterLog(options, {
      ...(lock && { lock: lock.outage }),
      ...(store && { store: store.outage }),
    });
    this.#unanswered = lock && new UnansweredRequests(options.clock, lock.steps.leaseFor);
  }

  /** Why the lock could not be asked the last time. */
  get lockError(): LockUnavailableError | undefined {
    const { isBroken, cause = this.#leaseError } = this.lock?.breaker ?? {};
    return isBroken || cause !== undefined ? this.#lockUnavailable(cause) : undefined;
  }

  /** Why the store could not be written or read the last time. */
  get storeError(): StoreUnavailableError | undefined {
    const { isBroken, cause = this.#writeError } = this.store?.breaker ?? {};
    return isBroken || cause !== undefined ? this.#storeUnavailable(cause) : undefined;
  }

  /** How long the store is not asked, in milliseconds, because it did not answer; 0: it is asked. */
  get storeRestsFor(): number {
    return this.store?.breaker.restsFor(this.options.clock.monotonic()) ?? 0;
  }

  /**
   * Asks for the lease of an entry. A lock that can't be asked is a result here.
   *
   * @throws {OptionError} when the lock does not accept the name of the entry.
   */
  async acquire(
    entry: Entry<unknown>,
    force: boolean,
    { waitsForProbe, startedAt }: BackendPatience,
  ): Promise<Acquired> {
    const access = this.lock as BackendAccess<LockSteps>;
    const { clock } = this.options;
    const state = sharedStateOf(entry);
    const named = this.#backendNameOf(entry, access);
    const name = typeof named === 'string' ? named : await named;
    const wanted = { name, leaseFor: access.steps.leaseFor, force };
    const spentMs = startedAt === undefined ? 0 : clock.monotonic() - startedAt;
    const leftMs = access.limitMs - Math.min(spentMs, access.limitMs * PART_OF_STORE);
    const acquireMs = Math.min(leftMs, this.options.timeoutMs * PART_OF_DEADLINE);
    const asked = await this.#ask(access, { waitsForProbe }, async (isProbe) => {
      try {
        return await acquireLease(access, wanted, state.request, clock, {
          tries: isProbe ? 1 : TRIES,
          acquireMs,
        });
      } finally {
        this.#unanswered?.note(state.request, wanted.name);
      }
    });
    if (asked.kind === 'resting') {
      void asked.probe?.then(
        (probed) => {
          const acquired = this.#acquired(entry, state, probed);
          if (acquired.kind === 'acquired') void this.release(acquired.lease, () => ({ as: 'abandoned' }));
        },
        () => {}, // a name that the lock does not accept: the next load reports it
      );
    }
    return this.#acquired(entry, state, asked);
  }

  /** Gives back leases whose answers are still awaited. Never rejects; takes at most one time-out of the lock. */
  async close(): Promise<void> {
    if (this.lock !== undefined) await this.#unanswered?.giveBack(this.lock);
  }

  #acquired(
    entry: Entry<unknown>,
    state: SharedState,
    asked: Asked<Awaited<ReturnType<typeof acquireLease>>>,
  ): Acquired {
    switch (asked.kind) {
      case 'resting': {
        const error = this.#lockUnavailable(asked.cause, entry);
        return { kind: 'unavailable', error, restsFor: asked.restsFor };
      }
      case 'failed': {
        const isBroken = this.lock?.breaker.isBroken === true;
        if (!isBroken) this.#leaseError = asked.cause;
        this.#log.lockFailed(entry, unavailableCause(asked.cause), isBroken);
        return { kind: 'unavailable', error: this.#lockUnavailable(asked.cause, entry), restsFor: 0 };
      }
      case 'answered': {
        this.#log.lockAnswered(entry);
        this.#leaseError = undefined;
        const { answer, sentAt } = asked.answer;
        this.#serverClock?.learn(answer.now, sentAt);
        return this.#accept(entry, state, answer);
      }
    }
  }

  #accept(
    entry: Entry<unknown>,
    state: SharedState,
    answer: Awaited<ReturnType<typeof acquireLease>>['answer'],
  ): Acquired {
    if (!isPlausibleToken(state.version, answer.now)) {
      // The backend's clock was set back by more than a year. Later versions are lower, and adopted if they were loaded later.
      state.version = 0;
      state.isLocal = true;
    }
    if (answer.kind !== 'acquired') {
      const { owner, host, token } = answer;
      state.holder = { owner, host, token };
      return answer;
    }
    const { owner, token } = answer.lease;
    state.holder = { owner, host: thisHost(), token };
    void this.lock?.steps.warning?.().then((text) => text && this.options.logger.warn(text));
    if (answer.damage !== undefined) this.#log.recordDamaged(entry, answer.damage);
    this.events.emit('lease-acquired', { token, ...keyOf(entry) });
    if (answer.tookOver) this.events.emit('took-over', { token, ...keyOf(entry) });
    return { kind: 'acquired', lease: answer.held };
  }

  /** Releases a lease. Never rejects. @returns whether it was released at once. */
  release(lease: HeldLease, outcome: () => ReleaseOutcome): Promise<boolean> {
    return (this.lock as BackendAccess<LockSteps>).run(() => lease.release(outcome));
  }

  /**
   * Reads the snapshot of an entry, if there is one that is newer and can be used. Never rejects: failures are reported,
   * and count as no snapshot.
   */
  async read(
    entry: Entry<unknown>,
    newerThan: number,
    { waitsForProbe, startedAt }: BackendPatience,
  ): Promise<ReadSnapshot | undefined> {
    const access = this.store as BackendAccess<StoreSteps>;
    const { clock, timeoutMs } = this.options;
    const part = startedAt === undefined || this.lock === undefined ? 1 : PART_OF_STORE;
    const stepMs = Math.min(access.limitMs * part, timeoutMs * PART_OF_DEADLINE);
    let sentAt = 0;
    try {
      const named = this.#backendNameOf(entry, access);
      const name = typeof named === 'string' ? named : await named;
      const asked = await this.#ask(access, { waitsForProbe }, () => {
        sentAt = clock.monotonic();
        return limited(() => access.steps.read(name, newerThan > 0 ? newerThan : undefined), clock, stepMs);
      });
      if (asked.kind === 'resting') {
        void asked.probe?.then(
          (probed) => this.#noteRead(probed),
          () => {},
        );
      }
      this.#noteRead(asked);
      if (asked.kind !== 'answered' || asked.answer === undefined) return undefined;
      const { version, age, payload, damage } = withDamage(asked.answer);
      if (damage === undefined && version <= newerThan) return undefined;
      try {
        if (damage !== undefined) throw new UndecodableError(damage);
        const snapshot = await limited(
          () => decodeSnapshot(payload, access.steps, this.#makerOf(entry)),
          clock,
          stepMs,
        );
        const { allowUndefined, kind } = this.options;
        const isValue = snapshot.value !== undefined || allowUndefined;
        if (snapshot.isAbsent ? kind !== 'key' : !isValue) throw new Error('it has no value');
        const writtenAt = sentAt - Math.max(0, age);
        return { ...snapshot, version, writtenAt, loadedAt: writtenAt - snapshot.age };
      } catch (error) {
        this.#rejected(entry, version, error as Error);
        return undefined;
      }
    } catch (error) {
      this.#log.unreadable(entry, unavailableCause(error)); // the key has no name
      return undefined;
    }
  }

  /**
   * Writes the snapshot of an entry. Never rejects: failures are reported. `undefined`: it was not written.
   *
   * @param metadata called at each write: the codec and the queue of the store may take their time.
   * @param lease the lease of the load. If it is lost by then nothing is written: the codec may take its time.
   */
  async publish(
    entry: Entry<unknown>,
    value: unknown,
    metadata: () => Omit<Snapshot, 'value'>,
    lease: HeldLease | undefined,
  ): Promise<WriteAnswer | undefined> {
    const access = this.store as BackendAccess<StoreSteps>;
    const { clock } = this.options;
    const token = lease?.id.token;
    try {
      const { isAbsent } = metadata();
      const body = await limited(() => encodeBody(value, isAbsent, access.steps.codec), clock);
      const named = this.#backendNameOf(entry, access);
      const name = typeof named === 'string' ? named : await named;
      const maker = this.#makerOf(entry);
      const { undecodableVersion } = sharedStateOf(entry);
      const rejected = undecodableVersion > 0 ? ([undecodableVersion] as const) : [];
      const write = (): Promise<WriteAnswer> =>
        limited(
          () => access.steps.write(name, withMetadata(body, metadata(), maker), token, ...rejected),
          clock,
          access.behindMs,
        );
      if (lease?.isLost) return undefined;
      const asked = await this.#ask(access, { isWrite: true }, async () => {
        if (lease?.isLost) return undefined; // while the step waited for its turn
        try {
          return await write();
        } catch (error) {
          if (isOptionError(error) || lease?.isLost) throw error;
          return write(); // the answer of the first may be lost
        }
      });
      if (asked.kind === 'resting') return undefined;
      if (asked.kind === 'failed') {
        const isKnown = this.#writeError !== undefined;
        if (access.breaker.isBroken) this.#log.storeFailed(unavailableCause(asked.cause), isKnown);
        throw asked.cause;
      }
      this.#log.storeAnswered();
      this.#writeError = undefined;
      const { answer } = asked;
      if (answer !== undefined) this.#log.written(entry);
      if (answer?.kind === 'refused') {
        this.events.emit('publish-refused', { token, version: answer.version, ...keyOf(entry) });
      }
      return answer;
    } catch (error) {
      this.#log.writeFailed(entry, unavailableCause(error), access.breaker.isBroken);
      this.#writeError = error;
      return undefined;
    }
  }

  #ask<S, R>(
    access: BackendAccess<S>,
    how: Pick<AskOptions, 'isWrite' | 'waitsForProbe'>,
    step: (isProbe: boolean) => Promise<R>,
  ): Promise<Asked<R>> {
    return access.ask(step, { ...how, clock: this.options.clock });
  }

  #noteRead(asked: Asked<unknown>): void {
    if (asked.kind === 'failed') this.#log.storeFailed(unavailableCause(asked.cause));
    if (asked.kind === 'answered') this.#log.storeAnswered();
  }

  /**
   * Refuses a key whose name is too long for any backend, before anything is loaded.
   *
   * @throws {OptionError}
   */
  checkKey(entry: Entry<unknown>): void {
    const { name } = this.options;
    const { id, key } = entry;
    if (key === undefined || typeof id !== 'string' || isWithin(lockName(name, id), LONGEST_NAME_BYTES))
      return;
    const rule = `must be short enough for a lock name of ${LONGEST_NAME_BYTES} bytes`;
    throw new OptionError([{ option: 'key', rule, received: id }], { cacheName: name, key });
  }

  /** The name of an entry at a backend. @throws {OptionError} for a key that has no name, or too long a one. */
  #backendNameOf(
    entry: Entry<unknown>,
    { steps: { longestName } }: { readonly steps: { readonly longestName?: number | undefined } },
  ): string | Promise<string> {
    const name = this.#nameOf(entry);
    const known = backendName(name, longestName);
    if (known !== undefined) return known;
    const rule = `must be at most ${longestName} bytes long`;
    throw new OptionError([{ option: 'name', rule, received: name }], { cacheName: this.options.name });
  }

  #makerOf(entry: Entry<unknown>): SnapshotMaker {
    return { kind: entry.key === undefined ? 'value' : 'key', name: this.#nameOf(entry) };
  }

  /** @throws {OptionError} for a key that has no name. */
  #nameOf(entry: Entry<unknown>): string {
    const { name, namespace } = this.options;
    const { id, key } = entry;
    const prefix = namespacePrefix(namespace);
    if (key === undefined) return prefix + name;
    if (id !== null && ['string', 'number', 'bigint', 'boolean'].includes(typeof id)) {
      return prefix + lockName(name, id);
    }
    const rule = 'must return a string or a number for such keys, so that the lock has a name for them';
    throw new OptionError([{ option: 'keyOf', rule, received: id }], { cacheName: name, key });
  }

  #lockUnavailable(thrown: unknown, entry?: Entry<unknown>): LockUnavailableError {
    const cause = unavailableCause(thrown);
    const about = { cacheName: this.options.name, key: entry?.key, cause };
    return new LockUnavailableError(`the lock is unavailable: ${messageOf(cause)}`, about);
  }

  #storeUnavailable(thrown: unknown): StoreUnavailableError {
    const cause = unavailableCause(thrown);
    const about = { cacheName: this.options.name, cause };
    return new StoreUnavailableError(`the store is unavailable: ${messageOf(cause)}`, about);
  }

  #rejected(entry: Entry<unknown>, version: number, error: Error): void {
    const state = sharedStateOf(entry);
    state.rejectedVersion = version;
    if (error instanceof UndecodableError) state.undecodableVersion = version;
    this.#log.rejected(entry, version, error);
    this.events.emit('snapshot-rejected', { version, error, ...keyOf(entry) });
  }
}

/** The error of the client, for an error or a line that names the lock or store itself. */
function unavailableCause(thrown: unknown): unknown {
  return isLockUnavailableError(thrown) || isStoreUnavailableError(thrown)
    ? (thrown.cause ?? thrown)
    : thrown;
}
