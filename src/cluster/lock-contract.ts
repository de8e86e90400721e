/** A request for a lease. All durations are milliseconds; no instant of this machine's clock travels. */
export interface AcquireRequest {
  /** The name of the lock. The same on all instances. */
  readonly name: string;
  /** The process that asks: unique per start. */
  readonly owner: string;
  /**
   * The identity of this request. Sending it again, because the answer was lost, returns the same lease, with the time
   * that is left of it.
   */
  readonly requestId: string;
  /** How long the lease lasts unless it is extended. Over 0, finite. */
  readonly leaseFor: number;
  /** The host of the process, for people. */
  readonly host: string;
  /** Ignores the hold of a round that is done, or backs off after a failure; never a live lease. */
  readonly force: boolean;
}

/** The identity of a lease. `extend` and `release` must match it, so that they never touch the next holder's. */
export interface LeaseId {
  readonly name: string;
  readonly requestId: string;
  /** The fencing token: grows with each acquire of the name, over crashes, replaced holders and a backend that comes back empty. */
  readonly token: number;
}

/** A lease that was just given. */
export interface Lease extends LeaseId {
  readonly owner: string;
  /** How long it was still valid when the backend answered, in milliseconds. */
  readonly remaining: number;
}

/** Contention is an answer, not an error. `now` is the server's wall clock in epoch milliseconds. */
export type AcquireAnswer =
  | {
      readonly kind: 'acquired';
      readonly lease: Lease;
      /** The lease of the previous holder had expired: it crashed, or was paused. */
      readonly tookOver: boolean;
      readonly now: number;
    }
  | {
      /** Another holder has it, or its last round failed and backs off. */
      readonly kind: 'held';
      /** Milliseconds until the lease (or the backoff) ends by itself, over 0. */
      readonly retryAfter: number;
      /** Milliseconds since it was acquired. */
      readonly heldFor: number;
      readonly owner: string;
      readonly host: string;
      readonly token: number;
      /** It is not held any more: the round failed, and may be tried again after `retryAfter`. */
      readonly isBackoff: boolean;
      readonly now: number;
    }
  | {
      /** The round has been completed elsewhere. */
      readonly kind: 'done';
      /** Milliseconds until the next round may begin, over 0. */
      readonly retryAfter: number;
      /** Milliseconds since it was completed. */
      readonly finishedAgo: number;
      readonly owner: string;
      readonly host: string;
      /** The token of the round that is done. */
      readonly token: number;
      readonly now: number;
    };

/** How a round ended. */
export type ReleaseOutcome =
  | {
      /** Completed: the next round must not begin for `holdFor` milliseconds from now; 0: it may begin at once. */
      readonly as: 'done';
      readonly holdFor: number;
    }
  | {
      /** Failed: any instance may try the same round again after `holdFor` milliseconds. */
      readonly as: 'failed';
      readonly holdFor: number;
      /** For people. */
      readonly error?: string | undefined;
    }
  | {
      /** Given up without a result: any instance may begin at once. */
      readonly as: 'abandoned';
    };

/**
 * How the last round of a name stands. `running`: its lease is live, or it expired and has no new holder yet.
 * `released`: by an operator.
 */
export type LockState = 'running' | 'done' | 'failed' | 'abandoned' | 'released';

/** The record of one name, as operators see it. A copy. All durations are milliseconds, measured by the backend. */
export interface LockRecord {
  readonly name: string;
  readonly token: number;
  readonly owner: string;
  readonly host: string;
  readonly state: LockState;
  /** The holder replaced one that had let its lease expire. */
  readonly tookOver: boolean;
  /** How long the lease is still valid; 0: it is not held. */
  readonly leaseLeft: number;
  /** How long the next round is still held back; 0: it may begin. */
  readonly holdLeft: number;
  readonly acquiredAgo: number;
  /** `undefined` while it runs. */
  readonly finishedAgo: number | undefined;
  /** Why it failed. */
  readonly lastError: string | undefined;
}

/** The options of `list`. */
export interface ListOptions {
  /** Only names that begin with it. @default all */
  readonly prefix?: string | undefined;
  /** The highest number of records. A whole number from 1. @default 1000 */
  readonly limit?: number | undefined;
}

/**
 * A lock that lets one instance of a cluster execute at a time, and one per round.
 *
 * Only the server's clock decides; only durations travel. Each method is one atomic step at the backend. It rejects
 * with `LockUnavailableError`, within a bounded time, when the backend can't be asked, and otherwise only with
 * `OptionError`, when the caller breaks a rule.
 *
 * The token of an acquire is `max(previous + 1, the server's clock in microseconds)`: a safe integer that grows
 * strictly per name, also when the backend has lost its data. The record of a name outlives its lease, so that holds and
 * tokens survive.
 *
 * For adapter authors: wrap your backend with `createLock`. It checks requests, limits the time of steps, and turns
 * errors into `LockUnavailableError`; `acquireRecord` and the like decide. Your code takes one atomic step at the backend.
 * `lockConformance` tests the result.
 *
 * ```ts
 * import {
 *   acquireRecord, createLock, type EngineRecord, extendRecord, forceReleaseRecord, type Instant, type Lock,
 *   type LockEngine, type LockOptions, releaseRecord, rowOfRecord,
 * } from 'tickless/lock';
 * import { lockConformance } from 'tickless/testing';
 *
 * // What the service can: replace a text if it is still the one that was read. etcd, Consul, DynamoDB, Deno KV can.
 * interface Registry {
 *   read(key: string): Promise<{ text: string | undefined; now: number }>; // by the service's clock
 *   replace(key: string, before: string | undefined, after: string): Promise<boolean>;
 *   keys(): Promise<string[]>;
 * }
 *
 * class RegistryLock implements LockEngine {
 *   readonly #registry: Registry;
 *
 *   constructor(registry: Registry) {
 *     this.#registry = registry;
 *   }
 *
 *   acquire(...[request]: Parameters<LockEngine['acquire']>): ReturnType<LockEngine['acquire']> {
 *     return this.#step(request.name, (record, now) => {
 *       const next = acquireRecord(record, request, now);
 *       return { next, answer: rowOfRecord(request.name, next, now) };
 *     });
 *   }
 *
 *   extend(...[lease, leaseFor]: Parameters<LockEngine['extend']>): Promise<boolean> {
 *     return this.#change(lease.name, (record, { at }) => extendRecord(record, lease, leaseFor, at));
 *   }
 *
 *   release(...[lease, ending]: Parameters<LockEngine['release']>): Promise<boolean> {
 *     return this.#change(lease.name, (record, { at }) => releaseRecord(record, lease, ending, at));
 *   }
 *
 *   forceRelease(name: string, token: number): Promise<boolean> {
 *     return this.#change(name, (record, { at }) => forceReleaseRecord(record, token, at));
 *   }
 *
 *   find(name: string): ReturnType<LockEngine['find']> {
 *     return this.#step(name, (record, now) => ({ answer: record && rowOfRecord(name, record, now) }));
 *   }
 *
 *   async list(prefix: string, limit: number): ReturnType<LockEngine['list']> {
 *     const keys = (await this.#registry.keys()).filter((key) => key.startsWith(prefix)).sort();
 *     const rows = await Promise.all(keys.slice(0, limit).map((key) => this.find(key)));
 *     return rows.filter((row) => row !== undefined);
 *   }
 *
 *   #change(name: string, change: (record: EngineRecord | undefined, now: Instant) => EngineRecord | undefined) {
 *     return this.#step(name, (record, now) => {
 *       const next = change(record, now);
 *       return { next, answer: next !== undefined };
 *     });
 *   }
 *
 *   // Reads, decides, replaces; and once more where another write was quicker.
 *   async #step<R>(
 *     name: string,
 *     decide: (record: EngineRecord | undefined, now: Instant) => { next?: EngineRecord | undefined; answer: R },
 *   ): Promise<R> {
 *     for (;;) {
 *       const { text, now } = await this.#registry.read(name);
 *       const record = text === undefined ? undefined : (JSON.parse(text) as EngineRecord);
 *       const { next, answer } = decide(record, { at: now, wall: now });
 *       const isDone = next === undefined || next === record;
 *       if (isDone || (await this.#registry.replace(name, text, JSON.stringify(next)))) return answer;
 *     }
 *   }
 * }
 *
 * function registryLock({ registry, ...options }: LockOptions & { registry: Registry }): Lock {
 *   return createLock(new RegistryLock(registry), options, { longestName: undefined, options: [] });
 * }
 *
 * // In the place of the service, for this example.
 * const texts = new Map<string, string>();
 * const registry: Registry = {
 *   read: async (key) => ({ text: texts.get(key), now: Date.now() }),
 *   replace: async (key, before, after) => texts.get(key) === before && texts.set(key, after) !== undefined,
 *   keys: async () => [...texts.keys()],
 * };
 * const cases = lockConformance({ lock: () => registryLock({ registry }) });
 * await Promise.all(cases.map(({ run }) => run())); // in your tests: it(name, run)
 * console.log(cases.length > 30); // true
 * ```
 */
export interface LockProvider {
  /** How long leases last that do not say otherwise, in milliseconds. */
  readonly leaseFor: number;
  /** The longest name that it takes, in bytes of UTF-8. `undefined`: any. */
  readonly longestName?: number | undefined;
  /** Asks for a lease. */
  acquire(request: AcquireRequest): Promise<AcquireAnswer>;
  /** Makes a live lease last `leaseFor` milliseconds from now. @returns false: it has expired or is another's by now. */
  extend(lease: LeaseId, leaseFor: number): Promise<boolean>;
  /**
   * Ends a live lease. A second call, because the answer was lost, resolves with true again.
   *
   * @returns false: it had expired, or has another holder by now; nothing was changed.
   */
  release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean>;
  /** The record of a name; `undefined`: it was never acquired, or its record has expired. */
  inspect(name: string): Promise<LockRecord | undefined>;
  /** The records of many names, in the order of their names. */
  list(options?: ListOptions): Promise<LockRecord[]>;
  /**
   * For operators: ends the lease or the hold that bears this token, so that any instance may begin at once. The holder
   * learns of it at its next extension.
   *
   * @returns false: the token is not the present one; nothing was changed.
   */
  forceRelease(name: string, token: number): Promise<boolean>;
}
