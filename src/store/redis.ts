import type {
  SnapshotRead,
  SnapshotStore,
  SnapshotWrite,
  StoredSnapshot,
  WriteAnswer,
} from '../cluster/store-contract.ts';
import type { RedisClient } from '../redis/client.ts';
import { ClientErrors } from '../redis/client-errors.ts';
import { type NameCall, RedisHashes } from '../redis/hashes.ts';
import { Script } from '../redis/script.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import type { StoreEngine } from './store-engine.ts';

export type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  RedisClient,
} from '../redis/client.ts';

/** The options of {@link redisStore}. */
export interface RedisStoreOptions extends StoreOptions {
  /**
   * A client or cluster of ioredis (5 or newer) or node-redis (4 or newer; connect it yourself). You keep ownership: the
   * store does not close it; add an `error` listener as its documentation requires.
   */
  readonly client: RedisClient;
  /**
   * Prefix of all keys, before the name and after the client's own `keyPrefix`. Use the same one on all instances, and
   * another one for other uses of the server. @default 'tickless:snapshot:'
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
 * its clock. A snapshot is as durable as the server's memory, and at most 512 MB long. Names may have any length.
 *
 * The user needs the rights for `eval`, `evalsha`, `time`, `exists`, `hmget`, `hget`, `hset`, `del`, `pexpire`, `persist`.
 *
 * ioredis does not detect a connection that has gone silent (a stopped server, a partition): give it `socketTimeout`, so
 * that it reconnects.
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { redisStore } from 'tickless/store/redis';
 *
 * const store = redisStore({ client: new Redis() });
 * await store.write('rates', '{"EUR":1}');
 * const snapshot = await store.read('rates');
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function redisStore(options: RedisStoreOptions): SnapshotStore {
  return createStore(new RedisStore(options), options, {
    longestName: undefined,
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  });
}

// ARGV[1] is the retention; the arguments follow.

/** Returns the payload only if it is newer; for a hash that was damaged by an edit, the damaged field. */
const READ = new Script(`
local held = redis.call('HMGET', key, 'version', 'writtenAt', 'brief')
local version, writtenAt = whole(held[1]), whole(held[2])
if not version then return redis.call('EXISTS', key) == 1 and {'0', 'version'} or false end
if not plausible(held[1]) then return {digits(version), 'version'} end
if version <= tonumber(ARGV[2]) then return false end
if not writtenAt then return {digits(version), 'writtenAt'} end
local payload = redis.call('HGET', key, 'payload')
if not payload then return {digits(version), 'payload'} end
if held[3] ~= held[1] then keep(now) end
return {digits(version), digits(now - writtenAt), payload}
`);

const WRITE = new Script(`
local held = plausible(redis.call('HGET', key, 'version')) or 0
local token, rejected, keepFor = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if token and token < held and held ~= rejected then return {0, digits(held)} end
local version = digits(token or math.max(held + 1, now))
-- brief: the version that reads do not prolong
redis.call('HSET', key, 'version', version, 'writtenAt', digits(now), 'payload', ARGV[2], 'brief', keepFor and version or '')
keep(now, keepFor)
return {1, version}
`);

const DELETE = new Script(`
return redis.call('DEL', key)
`);

class RedisStore implements StoreEngine {
  readonly #hashes: RedisHashes;

  constructor(options: RedisStoreOptions) {
    this.#hashes = new RedisHashes('store', options, 'tickless:snapshot:');
  }

  async read(name: string, newerThan?: number): Promise<StoredSnapshot | undefined> {
    const { args } = readCall({ name, newerThan });
    return snapshotOf(await this.#hashes.run(READ, name, ...args));
  }

  async readMany(reads: readonly SnapshotRead[]): Promise<(StoredSnapshot | undefined | Error)[]> {
    const replies = await this.#hashes.runMany(READ, reads.map(readCall));
    return replies.map((reply) => (reply instanceof Error ? reply : snapshotOf(reply)));
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
  ): Promise<WriteAnswer> {
    const { args } = writeCall({ name, payload, token, rejected, keepFor });
    return writeAnswerOf(await this.#hashes.run(WRITE, name, ...args));
  }

  async writeMany(writes: readonly SnapshotWrite[]): Promise<(WriteAnswer | Error)[]> {
    const replies = await this.#hashes.runMany(WRITE, writes.map(writeCall));
    return replies.map((reply) => (reply instanceof Error ? reply : writeAnswerOf(reply)));
  }

  async delete(name: string): Promise<boolean> {
    return Number(await this.#hashes.run(DELETE, name)) === 1;
  }
}

function readCall({ name, newerThan = -1 }: SnapshotRead): NameCall {
  return { name, args: [String(newerThan)] };
}

function writeCall({ name, payload, token, rejected, keepFor }: SnapshotWrite): NameCall {
  return { name, args: [payload, ...[token, rejected, keepFor].map((one) => String(one ?? ''))] };
}

function snapshotOf(reply: unknown): StoredSnapshot | undefined {
  if (reply === null) return undefined;
  const [version, micros, payload] = partsOf(reply);
  if (payload === undefined) {
    const damage = `its hash is damaged: the field '${micros}' is unreadable or implausible`;
    return { version: Number(version), age: 0, payload: '', damage };
  }
  return { version: Number(version), age: Number(micros) / 1000, payload };
}

function writeAnswerOf(reply: unknown): WriteAnswer {
  const [isWritten, version] = partsOf(reply);
  return { kind: Number(isWritten) === 1 ? 'written' : 'refused', version: Number(version) };
}

function partsOf(reply: unknown): [string, string, string | undefined] {
  if (!Array.isArray(reply)) throw new Error(`unexpected reply of the store script: ${String(reply)}`);
  return reply as [string, string, string | undefined];
}
