import {
  BEGINNING_LENGTH,
  type InstanceReport,
  type SnapshotRead,
  type SnapshotWrite,
  type Store,
  type StoredReport,
  type StoredSnapshot,
  type StoredVersion,
  type WriteAnswer,
} from '../cluster/store-contract.ts';
import { ownOptions } from '../option-checks.ts';
import type { RedisClient } from '../redis/client.ts';
import { ClientErrors } from '../redis/client-errors.ts';
import { RedisHashes } from '../redis/hashes.ts';
import { type NameCall, Script } from '../redis/script.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { checkHashes, listReports, runReporting, withReport } from './redis-checks.ts';
import type { StoreBackend } from './store-backend.ts';

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
 * its clock. A snapshot is as durable as the server's memory, and at most 512 MB long. Names may have any length. With
 * `keepVersions` older versions are in the same hash. The reports of instances are in the hash at the prefix itself.
 *
 * The user needs the rights for `eval`, `evalsha`, `time`, `exists`, `hmget`, `hget`, `hset`, `hdel`, `del`, `pexpire`,
 * `persist`, and for the reports of instances `hkeys` and `hlen`, without which
 * they are lost.
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
export function redisStore(given: RedisStoreOptions): Store {
  const options = ownOptions(given);
  return createStore(new RedisStore(options), options, {
    longestName: undefined,
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  });
}

// ARGV[1] is the retention; the arguments follow.

/** Returns the payload only if it is newer; for a hash that was damaged by an edit, the damaged field. */
const READ = withReport(`
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

/** Returns one version, the present one or an older one. */
const READ_VERSION = withReport(`
local wanted = tonumber(ARGV[2])
local version = digits(wanted)
local isPresent = whole(redis.call('HGET', key, 'version')) == wanted
local at = isPresent and '' or ':' .. version
local found = redis.call('HMGET', key, 'writtenAt' .. at, 'payload' .. at)
if not isPresent and not found[1] and not found[2] then return false end
if not plausible(version) then return {version, 'version'} end
local writtenAt = whole(found[1])
if not writtenAt then return {version, 'writtenAt'} end
if not found[2] then return {version, 'payload'} end
return {version, digits(now - writtenAt), found[2]}
`);

/** Returns each version with its age, its bytes and the first line of its payload; of a damaged one, the damaged field. */
const HISTORY = new Script(`
local held = redis.call('HMGET', key, 'version', 'older')
local records = {}
local function add(text, at)
  local version, found = whole(text), redis.call('HMGET', key, 'writtenAt' .. at, 'payload' .. at)
  local writtenAt, payload = whole(found[1]), found[2]
  local damage = not plausible(text) and 'version' or not writtenAt and 'writtenAt' or not payload and 'payload'
  records[#records + 1] = damage and {digits(version or 0), damage}
    or {digits(version), digits(now - writtenAt), string.match(string.sub(payload, 1, ${4 * BEGINNING_LENGTH}), '^[^\\n]*'), #payload}
end
if held[1] or redis.call('EXISTS', key) == 1 then add(held[1], '') end
for old in string.gmatch(held[2] or '', '%d+') do add(old, ':' .. old) end
return records
`);

// older: the versions before the present one, newest first. brief: the version that reads do not prolong.
const WRITE = withReport(`
local present = redis.call('HMGET', key, 'version', 'older', 'brief')
local held = plausible(present[1]) or 0
local token, rejected, keepFor = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if token and token < held and held ~= rejected then return {0, digits(held)} end
local version = digits(token or math.max(held + 1, now))
local room = keepFor and 0 or tonumber(ARGV[6]) - 1
if present[2] or room > 0 then
  local kept, own = {}, tonumber(version)
  if room > 0 and held > 0 and held < own and present[3] ~= present[1] then
    local moved = redis.call('HMGET', key, 'writtenAt', 'payload')
    if moved[1] and moved[2] then
      kept[1] = digits(held)
      redis.call('HSET', key, 'writtenAt:' .. kept[1], moved[1], 'payload:' .. kept[1], moved[2])
    end
  end
  for old in string.gmatch(present[2] or '', '%d+') do
    if #kept < room and tonumber(old) < own then kept[#kept + 1] = old
    elseif old ~= kept[1] then redis.call('HDEL', key, 'writtenAt:' .. old, 'payload:' .. old) end
  end
  if #kept > 0 then redis.call('HSET', key, 'older', table.concat(kept, ','))
  elseif present[2] then redis.call('HDEL', key, 'older') end
end
redis.call('HSET', key, 'version', version, 'writtenAt', digits(now), 'payload', ARGV[2], 'brief', keepFor and version or '')
keep(now, keepFor)
return {1, version}
`);

const DELETE = new Script(`
return redis.call('DEL', key)
`);

class RedisStore implements StoreBackend {
  readonly #hashes: RedisHashes;
  readonly #keepVersions: number;

  constructor(options: RedisStoreOptions) {
    this.#hashes = new RedisHashes('store', options, 'tickless:snapshot:');
    this.#keepVersions = options?.keepVersions ?? 1;
  }

  /** In a cluster the reports may be in another slot, which is another command. */
  get takesReports(): boolean {
    return !this.#hashes.isSlotted;
  }

  async read(
    name: string,
    newerThan?: number,
    version?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    if (version === undefined)
      return snapshotOf(await this.#one(READ, readCall({ name, newerThan }), report));
    const call = { name, args: [String(version)] };
    const found = snapshotOf(await this.#one(READ_VERSION, call, report));
    return version > (newerThan ?? -1) ? found : undefined;
  }

  async #one(script: Script, call: NameCall, report: InstanceReport | undefined): Promise<unknown> {
    const [reply] = await this.#reporting(script, [call], report);
    if (reply instanceof Error) throw reply;
    return reply;
  }

  #reporting(script: Script, calls: NameCall[], report: InstanceReport | undefined): Promise<unknown[]> {
    return runReporting(this.#hashes, script, calls, this.takesReports ? report : undefined);
  }

  async history(name: string): Promise<StoredVersion[]> {
    const replies = (await this.#hashes.run(HISTORY, name)) as unknown[][];
    return replies.map((reply) => {
      const { payload: beginning, ...snapshot } = snapshotOf(reply) as StoredSnapshot;
      return { ...snapshot, beginning, bytes: Number(reply[3] ?? 0) };
    });
  }

  async readMany(
    reads: readonly SnapshotRead[],
    report?: InstanceReport,
  ): Promise<(StoredSnapshot | undefined | Error)[]> {
    const replies = await this.#reporting(READ, reads.map(readCall), report);
    return replies.map((reply) => (reply instanceof Error ? reply : snapshotOf(reply)));
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    const call = this.#writeCall({ name, payload, token, rejected, keepFor });
    return writeAnswerOf(await this.#one(WRITE, call, report));
  }

  async writeMany(
    writes: readonly SnapshotWrite[],
    report?: InstanceReport,
  ): Promise<(WriteAnswer | Error)[]> {
    const calls = writes.map((write) => this.#writeCall(write));
    const replies = await this.#reporting(WRITE, calls, report);
    return replies.map((reply) => (reply instanceof Error ? reply : writeAnswerOf(reply)));
  }

  versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    return checkHashes(this.#hashes, names, report);
  }

  reports(beginning: string): Promise<StoredReport[]> {
    return listReports(this.#hashes, beginning);
  }

  async delete(name: string): Promise<boolean> {
    return Number(await this.#hashes.run(DELETE, name)) === 1;
  }

  #writeCall({ name, payload, token, rejected, keepFor }: SnapshotWrite): NameCall {
    const numbers = [token, rejected, keepFor, this.#keepVersions];
    return { name, args: [payload, ...numbers.map((one) => String(one ?? ''))] };
  }
}

function readCall({ name, newerThan = -1 }: SnapshotRead): NameCall {
  return { name, args: [String(newerThan)] };
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
