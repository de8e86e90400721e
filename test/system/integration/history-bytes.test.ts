import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { type RealServer, startRedis } from './support/servers.ts';

let server: RealServer;
let client: Redis;
beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client?.disconnect();
  await server?.close();
});

/** All that the server has sent. */
async function sent(): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
}

it('the history of 100 versions of 100 kB is read without their payloads', async () => {
  const patient = { client, timeout: 10_000 }; // on a busy machine
  const prices = new RefreshingValue({
    name: 'prices',
    backend: {
      lock: lockOf(redisBackend(patient)),
      store: storeOf(redisBackend({ ...patient, keepVersions: 100 })),
    },
    logger: false,
    load: () => 'x'.repeat(100_000),
  });
  for (let at = 0; at < 100; at++) await prices.set(`${at} ${'x'.repeat(100_000)}`);
  const before = await sent();
  const history = await prices.history();
  const bytes = (await sent()) - before;
  expect([history.length, history.every(({ owner }) => owner !== undefined)]).toEqual([100, true]);
  expect(history.every(({ bytes: size }) => size > 100_000)).toBe(true);
  expect(bytes).toBeLessThan(100_000); // with the payloads 10 MB
  await prices.close();
});
