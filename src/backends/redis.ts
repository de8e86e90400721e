import type { Hints } from '../cluster/hint-contract.ts';
import type { Store } from '../cluster/store-contract.ts';
import { ownOptions } from '../option-checks.ts';
import type { Lock, LockOptions } from '../records/lock/create-lock.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import type { StoreOptions } from '../records/store/create-store.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Backend, backendOn, lockOn, storeOn } from './backend.ts';
import type { RedisClient } from './redis/client.ts';
import { ClientErrors } from './redis/client-errors.ts';
import { PREFIX } from './redis/hashes.ts';
import { type RedisHintsOptions, type RedisPublisher, redisHints } from './redis/redis-hints.ts';
import { RedisRecords } from './redis/redis-records.ts';

export type { Hints } from '../cluster/hint-contract.ts';
export type { Backend } from './backend.ts';
export type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from './redis/client.ts';
export type { IoredisSubscriber, NodeRedisSubscriber } from './redis/redis-hints.ts';
export { type RedisHintsOptions, type RedisPublisher, redisHints };

/** The options of all that is in Redis. */
export interface RedisOptions {
  /**
   * A client or cluster of ioredis (5 or newer), or a client, pool, cluster or sentinel client of node-redis (4 or newer, the
   * last one 5 or newer; connect it yourself). You keep ownership: it is not closed; add an `error` listener as its
   * documentation requires.
   */
  readonly client: RedisClient;
  /**
   * Prefix of all keys, before the name and after the client's own `keyPrefix`. Use the same one on all instances, and
   * another one for other uses of the server; a lock and a store may share it. @default 'tickless:'
   */
  readonly prefix?: string | undefined;
  /**
   * How long a record is kept: of a lock counted from the end of its lease or hold, of a store from the last write or read. Choose more
   * than the time between two loads: an instance that starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** The options of {@link redisLock}. */
export interface RedisLockOptions extends LockOptions, RedisOptions {}

/** The options of {@link redisStore}. */
export interface RedisStoreOptions extends StoreOptions, RedisOptions {}

/** The options of {@link redisBackend}: those of the lock and of the store, and of hints. */
export interface RedisBackendOptions extends RedisLockOptions, RedisStoreOptions {
  /**
   * Listens for hints, which `client` then sends: another client, `client.duplicate()` say, as of {@link redisHints}. The channel is
   * `prefix` and `hints`. In place of the option `hints`. @default none: no hints are sent
   */
  readonly subscriber?: RedisHintsOptions['subscriber'] | undefined;
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
  return lockOn(openRedis, given);
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
  return storeOn(openRedis, given);
}

/**
 * A lock and a store in Redis or Valkey, for the option `backend`: {@link redisLock} and {@link redisStore} with the same options.
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { RefreshingValue } from 'tickless';
 * import { redisBackend } from 'tickless/redis';
 *
 * const backend = redisBackend({ client: new Redis() });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * With a `subscriber` it has hints too: the other instances learn of `set`, `refresh` and `invalidate` in milliseconds.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function redisBackend(given: RedisBackendOptions): Backend {
  const { subscriber, ...options } = ownOptions(given ?? ({} as RedisBackendOptions));
  return backendOn(openRedis, { ...options, hints: options.hints ?? hintsOf(subscriber, options) });
}

function hintsOf(
  subscriber: RedisBackendOptions['subscriber'],
  { client, prefix = PREFIX }: RedisOptions,
): Hints | undefined {
  if (subscriber === undefined) return undefined;
  return redisHints({ client: client as unknown as RedisPublisher, subscriber, channel: `${prefix}hints` });
}

function openRedis(about: 'lock' | 'store', options: RedisOptions): OpenRecords {
  return {
    backend: 'redis',
    records: new RedisRecords(about, options),
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  };
}
