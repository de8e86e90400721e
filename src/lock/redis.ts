import { ownOptions } from '../option-checks.ts';
import type { RedisClient } from '../redis/client.ts';
import { ClientErrors } from '../redis/client-errors.ts';
import { RedisRecords } from '../redis/redis-records.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from '../redis/client.ts';

/** The options of {@link redisLock}. */
export interface RedisLockOptions extends LockOptions {
  /**
   * A client or cluster of ioredis (5 or newer), or a client, pool, cluster or sentinel client of node-redis (4 or newer, the
   * last one 5 or newer; connect it yourself). You keep ownership: the lock does not close it; add an `error` listener as its
   * documentation requires.
   */
  readonly client: RedisClient;
  /**
   * Prefix of all keys, before the name and after the client's own `keyPrefix`. Use the same one on all instances, and
   * another one for other uses of the server; a store may share it. @default 'tickless:'
   */
  readonly prefix?: string | undefined;
  /**
   * How long the record of an unused name is kept, counted from the end of its lease or hold. Over 0; `Infinity`: for
   * ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A lock in Redis (6 or newer) or Valkey: one hash per name. Each step is one script that runs at the server and uses
 * its clock. A lease is as durable as the server's memory: a failover to a replica that has not received it, or a
 * restart without persistence, ends it early; tokens grow all the same. Names may have any length.
 *
 * The names of all records are in a sorted set, whose key is the prefix and `{lock}`, so `list` reads nothing of others. A name is
 * added by an acquire, and leaves the set some time after its record has expired. In a Redis Cluster without a hash tag in the prefix
 * (`'{locks}:'`) the set is in a slot of its own: there a name is added with a further command, behind the first acquire of each
 * instance, and behind one every ten minutes. A key beside the set, `{lock}:` and the name, keeps it there for twenty minutes at least.
 *
 * The user needs the rights for `eval`, `evalsha`, `time`, `hmget`, `hget`, `hset`, `exists`, `pexpire`, `persist`, and for the
 * index of names `zadd`, `zcard`, `zrange`, `zrangebylex`, `zrem`.
 *
 * A server that evicts keys (`maxmemory` with a `maxmemory-policy` other than `noeviction`) may drop a live lease: use
 * `noeviction`. With the right for `info`, the lock reports such a policy once, in the log of the first member with a lease.
 *
 * ioredis does not detect a connection that has gone silent (a stopped server, a partition): give it `socketTimeout`, so
 * that it reconnects.
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { redisLock } from 'tickless/redis';
 *
 * const lock = redisLock({ client: new Redis(), leaseFor: { seconds: 10 } });
 * const answer = await lock.acquire({ name: 'rates' });
 * if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor: 60_000 });
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function redisLock(given: RedisLockOptions): Lock {
  const options = ownOptions(given);
  return createLock(new RecordLock(new RedisRecords('lock', options)), options, {
    longestName: undefined,
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  });
}
