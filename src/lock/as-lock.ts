import { withCoordination } from '../cluster/coordination.ts';
import { lockAccess } from '../cluster/joined-steps.ts';
import type { LockProvider } from '../cluster/lock-contract.ts';
import { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
import { DEFAULT_TIMEOUT_MS } from '../cluster/time-limits.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';

/** The options of {@link asLock}. */
export interface AsLockOptions {
  /**
   * How long the lock may be silent, that is, answer no step at all; then it counts as unavailable. An extension or a release
   * may take three times as long. Over 0, finite. @default 1 second
   */
  readonly timeout?: DurationLike | undefined;
}

/**
 * Makes a plain object usable as the option `lock`. Locks of `createLock` and of tickless's adapters need no wrapping.
 *
 * All members that use the returned lock share its limit of 32 concurrent steps and its circuit breaker: call `asLock`
 * once for each object and share the result. No step of a load takes more than 15 seconds, and no acquire more than a
 * quarter of the deadline of the load.
 *
 * ```ts
 * import { type LockProvider, RefreshingValue } from 'tickless';
 * import { asLock } from 'tickless/lock';
 * import { memoryLock } from 'tickless/memory';
 *
 * const inner = memoryLock();
 * const counted: LockProvider & { acquires: number } = {
 *   acquires: 0,
 *   leaseFor: inner.leaseFor,
 *   acquire(request) {
 *     this.acquires += 1;
 *     return inner.acquire(request);
 *   },
 *   extend: (lease, leaseFor) => inner.extend(lease, leaseFor),
 *   release: (lease, outcome) => inner.release(lease, outcome),
 *   inspect: (name) => inner.inspect(name),
 *   list: (options) => inner.list(options),
 *   forceRelease: (name, token) => inner.forceRelease(name, token),
 * };
 * const rates = new RefreshingValue({ name: 'rates', load: () => 1.08, lock: asLock(counted) });
 * await rates.get();
 * console.log(counted.acquires); // 1
 * ```
 *
 * @returns a lock with the methods of the object.
 * @throws {OptionError} when the object has no `acquire`, `extend`, `release`, its `leaseFor` is not a number of
 * milliseconds over 0, at most 365 days, or an option breaks a rule.
 */
export function asLock(lock: LockProvider, given: AsLockOptions = {}): LockProvider {
  const options = ownOptions(given);
  const checks = new OptionChecks('lock');
  checks.names('', options, ['timeout']);
  const timeoutMs = checks.finiteDuration('timeout', options.timeout ?? DEFAULT_TIMEOUT_MS);
  checks.methods('lock', lock, ['acquire', 'extend', 'release']);
  const { leaseFor } = lock ?? {};
  if (typeof leaseFor === 'number') checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
  else checks.that(false, 'leaseFor', 'must be a number of milliseconds', leaseFor);
  checks.done();
  const wrapped: LockProvider = {
    leaseFor: lock.leaseFor,
    longestName: lock.longestName,
    acquire: (...args: Parameters<LockProvider['acquire']>) => lock.acquire(...args),
    extend: (...args: Parameters<LockProvider['extend']>) => lock.extend(...args),
    release: (...args: Parameters<LockProvider['release']>) => lock.release(...args),
    acquireMany: lock.acquireMany?.bind(lock),
    releaseMany: lock.releaseMany?.bind(lock),
    extendMany: lock.extendMany?.bind(lock),
    inspect: (...args: Parameters<LockProvider['inspect']>) => lock.inspect(...args),
    list: (...args: Parameters<LockProvider['list']>) => lock.list(...args),
    forceRelease: (...args: Parameters<LockProvider['forceRelease']>) => lock.forceRelease(...args),
  };
  return Object.freeze(withCoordination(wrapped, lockAccess(lock, timeoutMs)));
}
