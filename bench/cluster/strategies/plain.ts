import { type Strategy, stateless } from './strategy.ts';

/** The value expires; every reader that misses it loads it. */
export const plain: Strategy = stateless('plain', async ({ redis, key, periodMs, load }) => {
  const held = await redis.get(key);
  if (held !== null) return { value: held, isMiss: false };
  const value = await load();
  await redis.set(key, value, 'PX', periodMs);
  return { value, isMiss: true };
});
