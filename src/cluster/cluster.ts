import { type Entry, keyOf, sharedOf } from '../engine/entry.ts';
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
import type { ResolvedOptions } from '../options/resolve-options.ts';
import { Semaphore } from '../time/semaphore.ts';
import { acquireLease, TRIES } from './acquire-lease.ts';
import { asked } from './asked.ts';
import { Outage } from './circuit-breaker.ts';
import { withDamage } from './damage.ts';
import type { HeldLease } from './held-lease.ts';
import { thisHost } from './identity.ts';
import type { AcquireAnswer, LockProvider } from './lock-contract.ts';
import { ServerClock } from './server-clock.ts';
import { decodeSnapshot, encodeSnapshot, type Snapshot } from './snapshot.ts';
import type { SnapshotStore, WriteAnswer } from './store-contract.ts';

/** So many steps are under way at a time, however many keys are loaded. */
const MOST_STEPS = 32;

/** To ask takes at most this part of the deadline each time, so that most of it is left for the load. */
const PART_OF_DEADLINE = 0.25;

/** What the lock has answered, with the lease where there is one. */
export type Acquired =
  | { readonly kind: 'acquired'; readonly lease: HeldLease }
  | Exclude<AcquireAnswer, { readonly kind: 'acquired' }>
  | {
      readonly kind: 'unavailable';
      readonly error: Error;
      /** Milliseconds: it was not asked, and will not be for so long. 0: it was. */
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

/** The lock and the store of a member: asks them, and tells what is to be told of that. */
export class Cluster {
  readonly policy: ResolvedOptions;
  readonly events: Events;
  readonly lock: LockProvider | undefined;
  readonly store: SnapshotStore | undefined;
  /** For all steps at the engines but extensions, which can't wait. */
  readonly semaphore: Semaphore = new Semaphore(MOST_STEPS);
  readonly #lockOutage: Outage<LockUnavailableError>;
  readonly #readOutage: Outage<StoreUnavailableError>;
  readonly #writeOutage: Outage<StoreUnavailableError>;

  constructor(policy: ResolvedOptions, events: Events) {
    this.policy = policy;
    this.events = events;
    this.lock = policy.lock;
    this.store = policy.store;
    this.#lockOutage = new Outage(policy);
    this.#readOutage = new Outage(policy);
    this.#writeOutage = new Outage(policy);
  }

  /** Why the lock could not be asked the last time. */
  get lockError(): LockUnavailableError | undefined {
    return this.#lockOutage.error;
  }

  /** Why the store could not be written, or read, the last time. */
  get storeError(): StoreUnavailableError | undefined {
    return this.#writeOutage.error ?? this.#readOutage.error;
  }

  /**
   * Asks for the lease of an entry. That the lock can't be asked is an answer here.
   *
   * @throws {OptionError} when the name of the entry is not one that the lock can take.
   */
  acquire(entry: Entry<unknown>, force: boolean): Promise<Acquired> {
    return this.semaphore.run(() => this.#acquire(entry, force));
  }

  async #acquire(entry: Entry<unknown>, force: boolean): Promise<Acquired> {
    const lock = this.lock as LockProvider;
    const { clock, timeoutMs } = this.policy;
    const state = sharedOf(entry);
    const name = this.#nameOf(entry);
    const { error, restsFor } = this.#lockOutage;
    if (error !== undefined && restsFor > 0) return { kind: 'unavailable', error, restsFor };
    // One looks whether it is back; the others go on without it meanwhile.
    if (error !== undefined) this.#lockOutage.rest();
    const tries = error === undefined ? TRIES : 1;
    const mostMs = timeoutMs * PART_OF_DEADLINE;
    try {
      const wanted = { name, leaseFor: lock.leaseFor, force };
      const { answer, sentAt } = await acquireLease(lock, wanted, state, clock, { tries, mostMs });
      this.#lockOutage.over();
      if (clock instanceof ServerClock) clock.learn(answer.now, sentAt);
      const { owner, token } = answer.kind === 'acquired' ? answer.lease : answer;
      state.holder = { owner, host: answer.kind === 'acquired' ? thisHost() : answer.host, token };
      if (answer.kind !== 'acquired') return answer;
      this.events.emit('lease-acquired', { token, ...keyOf(entry) });
      if (answer.tookOver) this.events.emit('took-over', { token, ...keyOf(entry) });
      return { kind: 'acquired', lease: answer.held };
    } catch (cause) {
      if (isOptionError(cause)) throw cause;
      return { kind: 'unavailable', error: this.#lockFailed(entry, cause), restsFor: 0 };
    }
  }

  /** Milliseconds for which the store, which could not be asked, is left alone; 0: it is asked. */
  get storeRestsFor(): number {
    return this.#readOutage.restsFor;
  }

  /**
   * Reads the snapshot of an entry, if there is one that is newer and can be used. Never rejects: what goes wrong is
   * told, and counts as none.
   */
  read(entry: Entry<unknown>, newerThan: number): Promise<ReadSnapshot | undefined> {
    return this.semaphore.run(() => this.#read(entry, newerThan));
  }

  async #read(entry: Entry<unknown>, newerThan: number): Promise<ReadSnapshot | undefined> {
    const store = this.store as SnapshotStore;
    const sentAt = this.policy.clock.monotonic();
    if (this.storeRestsFor > 0) return undefined;
    if (this.#readOutage.error !== undefined) this.#readOutage.rest();
    try {
      const name = this.#nameOf(entry);
      const { clock, timeoutMs } = this.policy;
      const mostMs = timeoutMs * PART_OF_DEADLINE;
      const stored = await asked(
        () => store.read(name, newerThan > 0 ? newerThan : undefined),
        clock,
        mostMs,
      );
      this.#readOutage.over();
      if (stored === undefined) return undefined;
      const { version, age, payload, damage } = withDamage(stored);
      if (damage !== undefined) {
        this.#rejected(entry, version, new Error(damage));
        return undefined;
      }
      if (version <= newerThan) return undefined;
      try {
        const snapshot = await asked(() => decodeSnapshot(payload, store), clock, mostMs);
        const { allowUndefined, isKeyed } = this.policy;
        const isValue = snapshot.value !== undefined || allowUndefined;
        if (snapshot.isAbsent ? !isKeyed : !isValue) throw new Error('it holds no value');
        const writtenAt = sentAt - Math.max(0, age);
        return { ...snapshot, version, writtenAt, loadedAt: writtenAt - snapshot.age };
      } catch (error) {
        this.#rejected(entry, version, error as Error);
        return undefined;
      }
    } catch (error) {
      this.#storeFailed(this.#readOutage, entry, error, "its snapshot can't be read");
      return undefined;
    }
  }

  /**
   * Writes the snapshot of an entry. Never rejects: what goes wrong is told. `undefined`: it was not written.
   *
   * @param about what is to be said of the value; asked when it is encoded.
   * @param lease under which it was made. Without a valid one nothing is written: the codec may have taken its time.
   */
  async publish(
    entry: Entry<unknown>,
    value: unknown,
    about: () => Omit<Snapshot, 'value'>,
    lease: HeldLease | undefined,
  ): Promise<WriteAnswer | undefined> {
    const store = this.store as SnapshotStore;
    const { clock } = this.policy;
    const token = lease?.id.token;
    try {
      const payload = await asked(() => encodeSnapshot(value, about, store.codec), clock);
      const name = this.#nameOf(entry);
      const answer = await this.semaphore.run(() =>
        this.#write(async () => {
          if (lease?.isLost) return undefined;
          return asked(() => store.write(name, payload, token), clock);
        }),
      );
      if (answer === undefined) return undefined;
      this.#writeOutage.over();
      if (answer.kind === 'refused') {
        this.events.emit('publish-refused', { token, version: answer.version, ...keyOf(entry) });
      }
      return answer;
    } catch (error) {
      this.#storeFailed(this.#writeOutage, entry, error, "its snapshot can't be written");
      return undefined;
    }
  }

  /** Asks twice: the first time it may be the answer that was lost. */
  async #write(write: () => Promise<WriteAnswer | undefined>): Promise<WriteAnswer | undefined> {
    try {
      return await write();
    } catch (error) {
      if (isOptionError(error)) throw error;
      return write();
    }
  }

  /** @throws {OptionError} for a key that has no name. */
  #nameOf(entry: Entry<unknown>): string {
    const { name } = this.policy;
    const { id, key } = entry;
    if (key === undefined) return name;
    if (id !== null && ['string', 'number', 'bigint', 'boolean'].includes(typeof id))
      return lockName(name, id);
    const rule = 'must make a string or a number of such keys, so that the lock has a name for them';
    throw new OptionError([{ option: 'keyOf', rule, received: id }], { cacheName: name, key });
  }

  #lockFailed(entry: Entry<unknown>, thrown: unknown): LockUnavailableError {
    const cause = isLockUnavailableError(thrown) ? (thrown.cause ?? thrown) : thrown;
    const about = { cacheName: this.policy.name, key: entry.key, cause };
    const error = new LockUnavailableError(`the lock is unavailable: ${messageOf(cause)}`, about);
    if (this.lockError === undefined && this.policy.whenLockUnavailable === 'load') {
      this.policy.logger.warn('loads without its lock, which is unavailable', cause);
    }
    this.#lockOutage.began(error);
    return error;
  }

  #storeFailed(
    outage: Outage<StoreUnavailableError>,
    entry: Entry<unknown>,
    thrown: unknown,
    what: string,
  ): void {
    const cause = isStoreUnavailableError(thrown) ? (thrown.cause ?? thrown) : thrown;
    const about = { cacheName: this.policy.name, key: entry.key, cause };
    if (outage.error === undefined) this.policy.logger.warn(what, cause);
    outage.began(new StoreUnavailableError(`${what}: ${messageOf(cause)}`, about));
  }

  #rejected(entry: Entry<unknown>, version: number, error: Error): void {
    sharedOf(entry).useless = version;
    if (!this.events.has('snapshot-rejected')) {
      this.policy.logger.warn(`its snapshot of version ${version} can't be used`, error);
    }
    this.events.emit('snapshot-rejected', { version, error, ...keyOf(entry) });
  }
}
