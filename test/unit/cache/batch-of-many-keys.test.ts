import { expect, it } from 'vitest';
import { RefreshingCache } from '../../../src/index.ts';

it('a batch of loadMany may have more keys than a function may have arguments', async () => {
  const loadMany = (keys: readonly number[]) => new Map(keys.map((key) => [key, key]));
  const cache = new RefreshingCache({ name: 'c', loadMany, max: 200_000, logger: false });
  const keys = Array.from({ length: 150_000 }, (_, key) => key);
  expect((await cache.getMany(keys)).size).toBe(150_000);
});
