import { withCoordination } from '../../cluster/coordination.ts';
import { lockAccess } from '../../cluster/lock-access.ts';
import type { LockProvider } from '../../cluster/lock-contract.ts';
import { LONGEST_LEASE_MS } from '../../cluster/longest-lease.ts';
import { shownRecord } from '../../cluster/registration.ts';
import { DEFAULT_TIMEOUT_MS } from '../../cluster/time-limits.ts';
import { OptionChecks, ownOptions } from '../../option-checks.ts';
import type { DurationLike } from '../../time/duration.ts';

/** How long a lease lasts where the lock does not say it. */
const DEFAULT_LEASE_MS = 30_000;

/** The options of {@link asLock}. */
export interface AsLockOptions {
  /**
   * How long the lock may be silent, that is, answer no step at all; then it counts as unavailable. An extension or a release
   * may take three times as long. Over 0, finite. @default 1 second
   */
  readonly timeout?: DurationLike | undefined;
}

/** Your own lock, for {@link asLock}: three methods, and further ones of a `LockProvider` where it has them. */
export type OwnLock = Pick<LockProvider, 'acquire' | 'extend' | 'release'> & Partial<LockProvider>;

/**
 * Makes an object with three methods usable as the option `lock`. Without `leaseFor` a lease lasts 30 seconds; without
 * `inspect` and `list` operators see no records, and without `forceRelease` they end no lease.
 *
 * All members that use the returned lock share its limit of 32 concurrent steps and its circuit breaker: call `asLock`
 * once for each object and share the result. No step of a load takes more than 15 seconds, and no acquire more than a
 * quarter of the deadline of the load.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { type AcquireRequest, asLock, type LeaseId, type ReleaseOutcome } from 'tickless/backend';
 *
 * // Of one process. In a cluster each method is one atomic step at a shared place, by its clock.
 * const held = new Map<string, { requestId: string; token: number; until: number }>();
 * const lock = asLock({
 *   async acquire({ name, owner, requestId, leaseFor, host }: AcquireRequest) {
 *     const now = Date.now();
 *     const { until = 0, token = 0 } = held.get(name) ?? {};
 *     if (until > now) return { kind: 'held', retryAfter: until - now, heldFor: 0, owner, host, token, isBackoff: false, now };
 *     const next = Math.max(token + 1, now * 1000);
 *     held.set(name, { requestId, token: next, until: now + leaseFor });
 *     return { kind: 'acquired', lease: { name, owner, requestId, token: next, remaining: leaseFor }, tookOver: false, now };
 *   },
 *   async extend({ name, requestId }: LeaseId, leaseFor: number) {
 *     const lease = held.get(name);
 *     if (lease?.requestId !== requestId || lease.until <= Date.now()) return false;
 *     lease.until = Date.now() + leaseFor;
 *     return true;
 *   },
 *   async release({ name, requestId }: LeaseId, outcome: ReleaseOutcome) {
 *     const lease = held.get(name);
 *     if (lease?.requestId !== requestId) return false;
 *     lease.until = Date.now() + (outcome.as === 'abandoned' ? 0 : outcome.holdFor); // until the next round may begin
 *     return true;
 *   },
 * });
 * const rates = new RefreshingValue({ name: 'rates', load: () => 1.08, lock });
 * console.log(await rates.get(), held.size); // 1.08 1
 * ```
 *
 * @returns a lock with the methods of the object.
 * @throws {TicklessError} `OPTION` when the object has no `acquire`, `extend`, `release`, its `leaseFor` is not a number of
 * milliseconds over 0, at most 365 days, or an option breaks a rule.
 */
export function asLock(own: OwnLock, given: AsLockOptions = {}): LockProvider {
  const options = ownOptions(given ?? {});
  const checks = new OptionChecks('lock');
  checks.names('', options, ['timeout']);
  const timeoutMs = checks.finiteDuration('timeout', options.timeout ?? DEFAULT_TIMEOUT_MS);
  checks.methods('lock', own, ['acquire', 'extend', 'release']);
  const { leaseFor = DEFAULT_LEASE_MS } = own ?? {};
  if (typeof leaseFor === 'number') checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
  else checks.that(false, 'leaseFor', 'must be a number of milliseconds', leaseFor);
  checks.done();
  const lock: LockProvider = {
    leaseFor,
    longestName: own.longestName,
    acquire: (...args: Parameters<LockProvider['acquire']>) => own.acquire(...args),
    extend: (...args: Parameters<LockProvider['extend']>) => own.extend(...args),
    release: (...args: Parameters<LockProvider['release']>) => own.release(...args),
    inspect: async (...args: Parameters<LockProvider['inspect']>) => {
      const record = await own.inspect?.(...args);
      return record && shownRecord(record);
    },
    list: async (...args: Parameters<LockProvider['list']>) =>
      ((await own.list?.(...args)) ?? []).map(shownRecord),
    forceRelease: async (...args: Parameters<LockProvider['forceRelease']>) =>
      (await own.forceRelease?.(...args)) ?? false,
  };
  return Object.freeze(withCoordination(lock, lockAccess(lock, timeoutMs)));
}
