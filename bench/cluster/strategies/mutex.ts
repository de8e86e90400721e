import type { Means } from './strategy.ts';

/** It expires after this many load times, if its holder has died. */
const LOADS = 20;

/**
 * Runs the action unless another worker runs it, by a key that expires. It has no fencing: a holder that is too slow
 * would
 * release the key of another one.
 *
 * @returns `undefined`: another worker runs it.
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
