import type { Means } from './strategy.ts';

/** It is freed by itself after so many loads, if its holder has died. */
const LOADS = 20;

/**
 * Does something if nobody else does, by a key that expires. Without more: who holds it for too long would free
 * another's.
 *
 * @returns `undefined`: somebody else does.
 */
export async function exclusively<R>(
  { redis, key, loadMs }: Means,
  action: () => Promise<R>,
): Promise<R | undefined> {
  const lockKey = `${key}:lock`;
  if ((await redis.set(lockKey, 'held', 'PX', LOADS * loadMs, 'NX')) === null) return undefined;
  try {
    return await action();
  } finally {
    await redis.del(lockKey);
  }
}
