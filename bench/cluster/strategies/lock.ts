import { setTimeout as sleep } from 'node:timers/promises';
import { exclusively } from './mutex.ts';
import { type Means, PART_OF_LOAD, type Strategy, stateless } from './strategy.ts';

/** The value expires; one of the readers that miss it loads it, and the others wait. */
export const lock: Strategy = stateless('lock', async (means) => {
  const { redis, key, loadMs } = means;
  const held = await redis.get(key);
  if (held !== null) return { value: held, isMiss: false };
  let value = await exclusively(means, () => heldOrLoaded(means));
  while (value === undefined) {
    await sleep(PART_OF_LOAD * loadMs);
    value = (await redis.get(key)) ?? (await exclusively(means, () => heldOrLoaded(means)));
  }
  return { value, isMiss: true };
});

async function heldOrLoaded({ redis, key, periodMs, load }: Means): Promise<string> {
  const held = await redis.get(key);
  if (held !== null) return held;
  const value = await load();
  await redis.set(key, value, 'PX', periodMs);
  return value;
}
