import type { RedisHashesOptions } from '../../src/backends/redis/hashes.ts';
import { RedisCells } from '../../src/backends/redis/redis-cells.ts';
import { SwappedRecords } from '../../src/records/cells/swapped-records.ts';

/** The records of a store in Redis. */
export function redisRecords(options: RedisHashesOptions): SwappedRecords {
  const cells = new RedisCells(options);
  return new SwappedRecords(cells, cells.retentionMs);
}
