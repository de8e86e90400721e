import type { Signals } from '../cluster/signal-contract.ts';
import type { Backend } from '../engine/backend.ts';
import { ownOptions } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { SwappedRecords } from '../records/cells/swapped-records.ts';
import type { OpenRecords } from '../records/records-kind.ts';
import { isSignals } from '../signals/create-signals.ts';
import type { DurationLike } from '../time/duration.ts';
import { backendOn } from './backend.ts';
import type { RedisClient } from './redis/client.ts';
import { ClientErrors } from './redis/client-errors.ts';
import { PREFIX } from './redis/hashes.ts';
import { RedisCells } from './redis/redis-cells.ts';
import { type RedisSubscriber, redisSignals } from './redis/redis-signals.ts';

export type { Backend } from '../engine/backend.ts';
export type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from './redis/client.ts';
export type { RedisSubscriber } from './redis/redis-signals.ts';

/** The options of {@link redisBackend}. */
export interface RedisBackendOptions extends Omit<BackendOptions, 'signals'> {
  /**
   * A client or cluster of ioredis (5 or newer), or a client, pool, cluster or sentinel client of node-redis (4 or newer, the
   * last one 5 or newer; connect it yourself). You keep ownership: it is not closed; add an `error` listener as its
   * documentation requires.
   */
  readonly client: RedisClient;
  /**
   * Prefix of all keys, before the name and after the client's own `keyPrefix`. Use the same one on all instances, and
   * another one for other uses of the server. @default 'tickless:'
   */
  readonly prefix?: string | undefined;
  /**
   * How long a record is kept: of a lock counted from the end of its lease or hold, of a store from the last write or read. Choose more
   * than the time between two loads: an instance that starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
  /**
   * Notifies other instances of each change that a person or the code makes. An instance then queries the backend at its next read,
   * delayed by up to 5 ms per instance beyond ten. A second client, which listens while `client` sends: `client.duplicate()`. One of
   * node-redis must be connected; it may have other subscriptions too, and stays connected as long as you keep it. Its connection does
   * not keep the process alive (`unref`); that of a cluster does, and an attempt to connect may. The channel is `prefix` and `signals`:
   * `client` needs the right for `publish`, the other one for `subscribe` and `unsubscribe`, both for the channel (`&tickless:signals`).
   * Or signals over a channel of your own, of `createSignals`. @default none: instances query within `propagateWithin`
   */
  readonly signals?: RedisSubscriber | Signals | undefined;
}

/**
 * A backend in Redis (6 or newer) or Valkey: a hash for each name. Each step is one script that runs at the server: it
 * replaces the record if it is still as it was. An instance that does not know the present one takes a second step, and the server's
 * clock decides; in a Redis Cluster a lease may end earlier by as much as the clocks of its nodes differ: synchronize them. A lease is as durable as the server's memory: a failover to a replica that has not received it, or a
 * restart without persistence, ends it early; tokens grow all the same. Names may have any length, a value at most 512 MB. With
 * `keepVersions` older versions are in the same hash.
 *
 * The names and those of the reports of instances are in sorted sets, by when their records expire, whose keys are the prefix and
 * `{name}` or `{report}`, so that lists read nothing of others. In a Redis Cluster without a hash tag in the prefix (`'{shop}:'`) that of
 * names is in a slot of its own: there a name is added with a further command, behind the first change by each instance, and behind one
 * every ten minutes, and it stays for twenty minutes longer than its record.
 *
 * The user needs the rights for `eval`, `evalsha`, `time`, `exists`, `hmget`, `hget`, `hset`, `hdel`, `del`, `pexpire`, `persist`,
 * and for the index of names `zadd`, `zscore`, `zrange`, `zrangebyscore` and `zremrangebyscore`.
 *
 * A server that evicts keys (`maxmemory` with a `maxmemory-policy` other than `noeviction`) may drop a live lease: use
 * `noeviction`. With the right for `info`, such a policy is reported once, in the log of the first member with a lease.
 *
 * ioredis does not detect a connection that has gone silent (a stopped server, a partition): give it `socketTimeout`, so
 * that it reconnects.
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
 * With `signals` the other instances learn of `set`, `refresh` and `invalidate` in milliseconds:
 * `redisBackend({ client, signals: client.duplicate() })`.
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function redisBackend(given: RedisBackendOptions): Backend {
  const options = ownOptions(given ?? ({} as RedisBackendOptions));
  const { client, prefix = PREFIX, signals } = options;
  const channel = `${prefix}signals`;
  return backendOn(openRedis, {
    ...options,
    signals: signals && (isSignals(signals) ? signals : redisSignals(client as never, signals, channel)),
  });
}

function openRedis(options: Omit<RedisBackendOptions, 'signals'>): OpenRecords {
  const cells = new RedisCells(options);
  return {
    backend: 'redis',
    records: new SwappedRecords(cells, cells.retentionMs),
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  };
}
