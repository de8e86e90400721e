import {
  isLockUnavailableError,
  isStoreUnavailableError,
  LockUnavailableError,
  StoreUnavailableError,
} from '../errors.ts';
import { messageOf } from '../observe/logger.ts';

/** The error of a member whose lock could not be asked. */
export function lockUnavailable(thrown: unknown, cacheName: string, key?: unknown): LockUnavailableError {
  const cause = unavailableCause(thrown);
  return new LockUnavailableError(`the lock is unavailable: ${messageOf(cause)}`, { cacheName, key, cause });
}

/** The error of a member whose store could not be read or written. */
export function storeUnavailable(thrown: unknown, cacheName: string): StoreUnavailableError {
  const cause = unavailableCause(thrown);
  return new StoreUnavailableError(`the store is unavailable: ${messageOf(cause)}`, { cacheName, cause });
}

/** The error of the client, for an error or a line that names the lock or store itself. */
export function unavailableCause(thrown: unknown): unknown {
  return isLockUnavailableError(thrown) || isStoreUnavailableError(thrown)
    ? (thrown.cause ?? thrown)
    : thrown;
}
