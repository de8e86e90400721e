import { EngineClock } from '../engine-clock.ts';
import {
  isLockUnavailableError,
  isOptionError,
  isStoreUnavailableError,
  LockUnavailableError,
  lockName,
  OptionError,
  StoreUnavailableError,
} from '../errors.ts';
import { type Entry, keyOf, sharedOf } from '../executor/entry.ts';
import type { AcquireAnswer, LockProvider } from '../lock/contract.ts';
import { randomId, thisHost, thisProcess } from '../lock/identity.ts';
import type { Events } from '../observe/events.ts';
import { messageOf } from '../observe/logger.ts';
import type { Policy } from '../policy.ts';
import type { SnapshotStore, WriteAnswer } from '../store/contract.ts';
import { asked } from './asked.ts';
import { HeldLease } from './held-lease.ts';
import { decodeSnapshot, encodeSnapshot, type Snapshot } from './snapshot.ts';

/** So often a lock is asked before it counts as unavailable; the second time it may be the answer that was lost. */
const TRIES = 2;

const KINDS: readonly (AcquireAnswer['kind'] | undefined)[] = ['acquired', 'held', 'done'];

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
  /** When it was written, no later than that (monotonic). */
  readonly writtenAt: number;
}

/** The lock and the store of a member: asks them, and tells what is to be told of that. */
export class Cluster {
  readonly policy: Policy;
  readonly events: Events;
  readonly lock: LockProvider | undefined;
  readonly store: SnapshotStore | undefined;
  /** Why it could not be asked the last time; told once per outage. */
  lockError: LockUnavailableError | undefined;
  storeError: StoreUnavailableError | undefined;
  /** What could not be done with the store: a value that can't be written may well be read. */
  #failedStep: 'read' | 'written' | undefined;
  /** One that could not be asked is left alone until then (monotonic): loads of many keys are not to wait for it each. */
  #lockRestsUntil: number = Number.NEGATIVE_INFINITY;
  #storeRestsUntil: number = Number.NEGATIVE_INFINITY;

  constructor(policy: Policy, events: Events) {
    this.policy = policy;
    this.events = events;
    this.lock = policy.lock;
    this.store = policy.store;
  }

  /**
   * Asks for the lease of an entry. That the lock can't be asked is an answer here.
   *
   * @throws {OptionError} when the name of the entry is not one that the lock can take.
   */
  async acquire(entry: Entry<unknown>, force: boolean): Promise<Acquired> {
    const lock = this.lock as LockProvider;
    const { clock } = this.policy;
    const state = sharedOf(entry);
    const name = this.#nameOf(entry);
    const restsFor = this.#lockRestsUntil - clock.monotonic();
    if (this.lockError !== undefined && restsFor > 0) {
      return { kind: 'unavailable', error: this.lockError, restsFor };
    }
    state.requestId ??= randomId();
    const { requestId } = state;
    const request = {
      name,
      requestId,
      owner: thisProcess(),
      host: thisHost(),
      leaseFor: lock.leaseFor,
      force,
    };
    let cause: unknown;
    for (let left = TRIES; left > 0; left--) {
      const sentAt = clock.monotonic();
      try {
        const answer = await asked(() => lock.acquire(request));
        if (!KINDS.includes(answer?.kind))
          throw new TypeError(`acquire() answered with ${messageOf(answer)}`);
        const { owner, token } = answer.kind === 'acquired' ? answer.lease : answer;
        state.requestId = this.lockError = undefined;
        if (clock instanceof EngineClock) clock.learn(answer.now);
        const host = answer.kind === 'acquired' ? request.host : answer.host;
        state.holder = { owner, host, token };
        if (answer.kind !== 'acquired') return answer;
        const lease = new HeldLease(lock, answer.lease, sentAt, clock, lock.leaseFor);
        this.events.emit('lease-acquired', { token, ...keyOf(entry) });
        if (answer.tookOver) this.events.emit('took-over', { token, ...keyOf(entry) });
        return { kind: 'acquired', lease };
      } catch (thrown) {
        if (isOptionError(thrown)) throw thrown;
        cause = thrown;
      }
    }
    return { kind: 'unavailable', error: this.#lockFailed(entry, cause), restsFor: 0 };
  }

  /** Milliseconds for which the store, which could not be asked, is left alone; 0: it is asked. */
  get storeRestsFor(): number {
    return Math.max(0, this.#storeRestsUntil - this.policy.clock.monotonic());
  }

  /**
   * Reads the snapshot of an entry, if there is one that is newer and can be used. Never rejects: what goes wrong is
   * told, and counts as none.
   */
  async read(entry: Entry<unknown>, newerThan: number): Promise<ReadSnapshot | undefined> {
    const store = this.store as SnapshotStore;
    const sentAt = this.policy.clock.monotonic();
    if (sentAt < this.#storeRestsUntil) return undefined;
    try {
      const name = this.#nameOf(entry);
      const stored = await asked(() => store.read(name, newerThan > 0 ? newerThan : undefined));
      this.#storeAnswered('read');
      if (stored === undefined || stored.version <= newerThan) return undefined;
      const { version, age, payload } = stored;
      try {
        const snapshot = await decodeSnapshot(payload, store);
        const { allowUndefined, isKeyed } = this.policy;
        const isValue = snapshot.value !== undefined || allowUndefined;
        if (snapshot.isAbsent ? !isKeyed : !isValue) throw new Error('it holds no value');
        return { ...snapshot, version, writtenAt: sentAt - Math.max(0, age) };
      } catch (error) {
        this.#rejected(entry, version, error as Error);
        return undefined;
      }
    } catch (error) {
      this.#storeFailed(entry, error, 'read');
      return undefined;
    }
  }

  /**
   * Writes the snapshot of an entry. Never rejects: what goes wrong is told. `undefined`: it was not written.
   *
   * @param lease under which it was made. Without a valid one nothing is written: the codec may have taken its time.
   */
  async publish(
    entry: Entry<unknown>,
    snapshot: () => Snapshot,
    lease: HeldLease | undefined,
  ): Promise<WriteAnswer | undefined> {
    const store = this.store as SnapshotStore;
    const token = lease?.id.token;
    try {
      const payload = await encodeSnapshot(snapshot(), store.codec);
      if (lease?.isLost) return undefined;
      const name = this.#nameOf(entry);
      const answer = await this.#write(() => asked(() => store.write(name, payload, token)));
      this.#storeAnswered('written');
      if (answer.kind === 'refused') {
        this.events.emit('publish-refused', { token, version: answer.version, ...keyOf(entry) });
      }
      return answer;
    } catch (error) {
      this.#storeFailed(entry, error, 'written');
      return undefined;
    }
  }

  /** Asks twice: the first time it may be the answer that was lost. */
  async #write(write: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
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
    this.lockError = error;
    this.#lockRestsUntil = this.#restsUntil();
    return error;
  }

  #storeAnswered(step: 'read' | 'written'): void {
    if (step === this.#failedStep) this.storeError = this.#failedStep = undefined;
  }

  #storeFailed(entry: Entry<unknown>, thrown: unknown, step: 'read' | 'written'): void {
    const what = `its snapshot can't be ${step}`;
    this.#failedStep = step;
    const cause = isStoreUnavailableError(thrown) ? (thrown.cause ?? thrown) : thrown;
    const about = { cacheName: this.policy.name, key: entry.key, cause };
    if (this.storeError === undefined) this.policy.logger.warn(what, cause);
    this.storeError = new StoreUnavailableError(`${what}: ${messageOf(cause)}`, about);
    if (isStoreUnavailableError(thrown)) this.#storeRestsUntil = this.#restsUntil();
  }

  #restsUntil(): number {
    const { clock, coolDown } = this.policy;
    return clock.monotonic() + coolDown.initialMs;
  }

  #rejected(entry: Entry<unknown>, version: number, error: Error): void {
    if (!this.events.has('snapshot-rejected')) {
      this.policy.logger.warn(`its snapshot of version ${version} can't be used`, error);
    }
    this.events.emit('snapshot-rejected', { version, error, ...keyOf(entry) });
  }
}
