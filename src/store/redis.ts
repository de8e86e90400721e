import type { Store } from '../cluster/store-contract.ts';
import { ownOptions } from '../option-checks.ts';
import type { RedisClient } from '../redis/client.ts';
import { ClientErrors } from '../redis/client-errors.ts';
import { RedisRecords } from '../redis/redis-records.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

export type { Hints } from '../cluster/hint-contract.ts';
export type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from '../redis/client.ts';
export {
  type IoredisSubscriber,
  type NodeRedisSubscriber,
  type RedisHintsOptions,
  type RedisPublisher,
  redisHints,
} from '../redis/redis-hints.ts';

/** The options of {@link redisStore}. */
export interface RedisStoreOptions extends StoreOptions {
  /**
   * A client or cluster of ioredis (5 or newer), or a client, pool, cluster or sentinel client of node-redis (4 or newer, the
   * last one 5 or newer; connect it yourself). You keep ownership: the store does not close it; add an `error` listener as its
   * documentation requires.
   */
  readonly client: RedisClient;
  /**
   * Prefix of all keys, before the name and after the client's own `keyPrefix`. Use the same one on all instances, and
   * another one for other uses of the server; a lock may share it. @default 'tickless:'
   */
  readonly prefix?: string | undefined;
  /**
   * How long a snapshot is kept after its last write or read. Choose more than the time between two loads: an instance
   * that starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in Redis (6 or newer) or Valkey: one hash per name. Each step is one script that runs at the server and uses
 * its clock. A snapshot is as durable as the server's memory, and at most 512 MB long. Names may have any length. With
 * `keepVersions` older versions are in the same hash. The report of an instance is a hash too, and the names of all of them are
 * in a sorted set, both in one slot of a Redis Cluster.
 *
 * The user needs the rights for `eval`, `evalsha`, `time`, `exists`, `hmget`, `hget`, `hset`, `hdel`, `del`, `pexpire`,
 * `persist`, and for the reports of instances `zadd`, `zcard`, `zrange`, `zrangebylex` and `zrem`, without which they are not
 * found.
 *
 * ioredis does not detect a connection that has gone silent (a stopped server, a partition): give it `socketTimeout`, so
 * that it reconnects.
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { redisStore } from 'tickless/redis';
 *
 * const store = redisStore({ client: new Redis() });
 * await store.write('rates', '{"EUR":1}');
 * const snapshot = await store.read('rates');
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function redisStore(given: RedisStoreOptions): Store {
  const options = ownOptions(given);
  const records = new RedisRecords('store', options);
  return createStore(new RecordStore(records, options.keepVersions), options, {
    longestName: undefined,
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  });
}
