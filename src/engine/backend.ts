import { ownOptions } from '../option-checks.ts';
import { coordinationKey } from './coordination-key.ts';
import type { LockLike, StoreLike } from './coordinator.ts';

/** A backend, as members take it: made by `redisBackend` of `tickless/redis` and the like, or by `createBackend` of `tickless/backend`. */
export interface Backend {
  /** `undefined`: it has none. */
  readonly lock?: LockLike | undefined;
  /** `undefined`: it has none. */
  readonly store?: StoreLike | undefined;
}

/** Where rounds of a cluster are agreed on, and values shared. */
export interface BackendParts {
  readonly lock: LockLike | undefined;
  readonly store: StoreLike | undefined;
}

/** The rule of an option that takes a backend. */
export const BACKEND_RULE: string = "must be a backend, such as redisBackend({ client }) of 'tickless/redis'";

/** The rule of an option that takes a backend or a lock. */
export const LOCK_RULE: string = `${BACKEND_RULE}, or asLock(object) of 'tickless/backend'`;

export const NO_PARTS: BackendParts = { lock: undefined, store: undefined };

export function isBackend(given: unknown): given is Backend {
  const { lock, store }: Backend = ownOptions(given as Backend) ?? {};
  return [lock, store].every((part) => part?.[coordinationKey] !== undefined);
}

/** A backend, whose lock is used, or a lock of `asLock`. */
export function isLock(given: Backend | LockLike): boolean {
  return lockOf(given)?.[coordinationKey] !== undefined;
}

/** Both of a backend, or the lock alone; `undefined`: neither option is given. */
export function partsOf(
  backend: Backend | false | undefined,
  lock: Backend | LockLike | undefined,
): BackendParts | undefined {
  if (lock !== undefined) return { lock: lockOf(lock), store: undefined };
  if (backend === undefined) return undefined;
  return isBackend(backend) ? { ...NO_PARTS, ...ownOptions(backend) } : NO_PARTS;
}

/** The lock of a backend, or the lock itself. */
export function lockOf(given: Backend | LockLike): LockLike | undefined {
  return isBackend(given) ? ownOptions(given).lock : (given as LockLike);
}
