import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { RedisRecords } from '../../../src/redis/redis-records.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';

// Those of the other backends are in the files of their servers.

describe('Redis', { concurrent: true }, () => {
  const { url } = inject('redis');
  const ioredis = new Redis(url, { lazyConnect: true });
  const nodeRedis = createClient({ url });
  const patient = { prefix: 'records:', timeout: 10_000 };
  beforeAll(() => nodeRedis.connect());
  afterAll(() => {
    ioredis.disconnect();
    nodeRedis.destroy();
  });

  const subject = {
    records: () => new RedisRecords('store', { client: ioredis, ...patient }),
    other: () => new RedisRecords('store', { client: nodeRedis, ...patient }),
  };
  for (const { name, run } of recordsConformance(subject)) it(name, run);
});
