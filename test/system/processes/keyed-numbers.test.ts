import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runNode } from './child.ts';

/** The bytes of an idle key beside lru-cache with a ttl. The target is 1.4, which `npm run bench` measures. */
const MOST = 2;
const KEYS = 100_000;

/** Of a candidate of the bench, on the built package (`npm run build` first). */
async function bytesPerKey(candidate: string): Promise<number> {
  const script = fileURLToPath(new URL('../../../bench/idle-keys/main.ts', import.meta.url));
  const args = ['--expose-gc', '--import', 'tsx', script, candidate, `${KEYS}`];
  const { code, stdout, stderr } = await runNode(args, {}, 110_000);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return Number(stdout);
}

it('an idle key of 100,000 takes less than twice the bytes of one of lru-cache with a ttl', async () => {
  const lruCache = await bytesPerKey('lru-cache, ttl');
  expect(lruCache).toBeGreaterThan(50); // what was measured is a cache
  const candidates = ['tickless, load', 'tickless, async load', 'tickless, loadMany'];
  const bytes = await Promise.all(candidates.map(bytesPerKey));
  expect(Math.max(...bytes) / lruCache).toBeLessThanOrEqual(MOST);
}, 240_000);
