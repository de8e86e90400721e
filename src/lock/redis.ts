import type { AcquireRequest, LeaseExtension, LeaseId, LockState } from '../cluster/lock-contract.ts';
import { ownOptions } from '../option-checks.ts';
import type { RedisClient } from '../redis/client.ts';
import { ClientErrors } from '../redis/client-errors.ts';
import { RedisHashes } from '../redis/hashes.ts';
import { INDEX, indexCall } from '../redis/name-index.ts';
import { type NameCall, Script } from '../redis/script.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import {
  CLOCK_BACK_MS,
  type Ending,
  type LeaseEnd,
  LONGEST_AHEAD_MS,
  type LockBackend,
  type LockRow,
  REPLACED,
} from './lock-backend.ts';

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
   * another one for other uses of the server. @default 'tickless:lock:'
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
 * The names of all records are in a sorted set, whose key is the prefix itself, so `list` reads nothing of others. A name is added
 * by each acquire, and leaves the set some time after its record has expired. In a Redis Cluster the prefix needs a hash tag for
 * that (`'{locks}:'`); without one `list` scans all keys of all servers.
 *
 * The user needs the rights for `eval`, `evalsha`, `time`, `hmget`, `hset`, `hdel`, `pexpire`, `persist`, and for the index
 * of names `exists`, `zadd`, `zcard`, `zrange`, `zrangebylex`, `zrem`; in a Redis Cluster without a hash tag `scan`.
 *
 * A server that evicts keys (`maxmemory` with a `maxmemory-policy` other than `noeviction`) may drop a live lease: use
 * `noeviction`. With the right for `info`, the lock reports such a policy once, in the log of the first member with a lease.
 *
 * ioredis does not detect a connection that has gone silent (a stopped server, a partition): give it `socketTimeout`, so
 * that it reconnects.
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { redisLock } from 'tickless/lock/redis';
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
  return createLock(new RedisLock(options), options, {
    longestName: undefined,
    options: ['client', 'prefix', 'retention'],
    explain: ClientErrors.of(options.client).explain,
  });
}

/** Translates `record.ts` to Lua. A damaged record counts as absent, except for its token where that is plausible. */
const RECORD = `
local states = {running = true, done = true, failed = true, abandoned = true, released = true}
local latest = now + ${LONGEST_AHEAD_MS} * 1000

local function instant(text)
  local number = whole(text)
  if number and number <= latest then return number end
end

-- the record if it is sound, a token to exceed, the damaged field, whether a round was running
local function read()
  local f = redis.call('HMGET', key, 'token', 'owner', 'requestId', 'host', 'state', 'tookOver',
    'leaseUntil', 'notBefore', 'acquiredAt', 'finishedAt', 'lastError')
  local isThere = false
  for i = 1, 11 do isThere = isThere or f[i] end
  if not isThere then return nil, 0, nil, false end
  local record = {
    token = plausible(f[1]), owner = f[2], requestId = f[3], host = f[4] or '', state = states[f[5]] and f[5],
    tookOver = f[6] == '1', leaseUntil = instant(f[7]), notBefore = instant(f[8]), acquiredAt = instant(f[9]),
    finishedAt = instant(f[10]), lastError = f[11]
  }
  local damage = nil
  for _, name in ipairs({'token', 'state', 'leaseUntil', 'notBefore', 'acquiredAt', 'owner', 'requestId'}) do
    if not record[name] then damage = damage or name end
  end
  if f[10] and not record.finishedAt then damage = damage or 'finishedAt' end
  return not damage and record or nil, record.token or 0, damage, f[5] == 'running'
end

local back = now + ${CLOCK_BACK_MS} * 1000

local function isLive(record)
  return record.state == 'running' and record.leaseUntil > now and record.acquiredAt <= back
end

local function isHeldBack(record)
  return record.finishedAt and record.notBefore > now and record.finishedAt <= back
end

local function isOf(record, token, requestId)
  return record.token == tonumber(token) and record.requestId == requestId
end

-- durations in microseconds
local function row(record)
  return {
    digits(record.token), record.owner, record.requestId, record.host, record.state, record.tookOver and '1' or '0',
    digits(isLive(record) and record.leaseUntil - now or 0),
    digits(isHeldBack(record) and record.notBefore - now or 0),
    digits(now - record.acquiredAt),
    record.finishedAt and digits(now - record.finishedAt) or false,
    record.lastError, digits(now)
  }
end

local record, token, damage, wasRunning = read()
`;

// ARGV[1] is the retention; the arguments follow.

const ACQUIRE = new Script(`${INDEX}${RECORD}
local owner, requestId, host, leaseFor, force = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'
if record and (isLive(record) or (isHeldBack(record) and not force)) then return row(record) end
local lease = {
  token = math.max(token + 1, now), owner = owner, requestId = requestId, host = host, state = 'running',
  tookOver = wasRunning, leaseUntil = after(leaseFor), notBefore = now,
  acquiredAt = now, lastError = damage and '${REPLACED}' .. damage or false
}
redis.call('HSET', key, 'token', digits(lease.token), 'owner', owner, 'requestId', requestId, 'host', host,
  'state', 'running', 'tookOver', lease.tookOver and '1' or '0', 'leaseUntil', digits(lease.leaseUntil),
  'notBefore', digits(now), 'acquiredAt', digits(now))
redis.call('HDEL', key, 'finishedAt', 'lastError')
if damage then redis.call('HSET', key, 'lastError', lease.lastError) end
keep(lease.leaseUntil)
return row(lease)
`);

const EXTEND = new Script(`${RECORD}
if not record or not isOf(record, ARGV[2], ARGV[3]) or not isLive(record) then return 0 end
local leaseUntil = after(ARGV[4])
redis.call('HSET', key, 'leaseUntil', digits(leaseUntil))
keep(leaseUntil)
return 1
`);

const RELEASE = new Script(`${RECORD}
local state, holdFor, keepFor, error = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
if not record or not isOf(record, ARGV[2], ARGV[3]) then return 0 end
if record.state == state then return 1 end -- repeated after a lost reply
if not isLive(record) then return 0 end
local notBefore = after(holdFor)
redis.call('HSET', key, 'state', state, 'leaseUntil', digits(now), 'notBefore', digits(notBefore),
  'finishedAt', digits(now))
if error then redis.call('HSET', key, 'lastError', error) else redis.call('HDEL', key, 'lastError') end
keep(notBefore, keepFor)
return 1
`);

const FORCE_RELEASE = new Script(`${RECORD}
if not record or record.token ~= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', key, 'state', 'released', 'leaseUntil', digits(now), 'notBefore', digits(now),
  'finishedAt', digits(now))
keep(now)
return 1
`);

const FOUND = `${RECORD}
return record and row(record) or false
`;

const FIND = new Script(FOUND);

/** A key of others, at the place of a record, is none. */
const LIST = new Script(`
local held = redis.pcall('HMGET', key, 'token')
if held.err and string.find(held.err, 'WRONGTYPE', 1, true) then return false end
${FOUND}`);

/** Longer error texts are cut. In UTF-16 code units. */
const MAX_ERROR_LENGTH = 16_000;

class RedisLock implements LockBackend {
  readonly #hashes: RedisHashes;

  constructor(options: RedisLockOptions) {
    this.#hashes = new RedisHashes('lock', options, 'tickless:lock:');
  }

  async acquire(request: AcquireRequest): Promise<LockRow> {
    const [row] = await this.acquireMany([request]);
    if (row instanceof Error) throw row;
    return row as LockRow;
  }

  async acquireMany(requests: readonly AcquireRequest[]): Promise<(LockRow | Error)[]> {
    const calls = requests.map(acquireCall);
    // In several slots the index would be a command more for each acquire.
    const index = this.#hashes.isSlotted ? [] : [indexCall(calls)];
    const replies = await this.#hashes.runMany(ACQUIRE, [...calls, ...index]);
    return requests.map(({ name }, index) => {
      const reply = replies[index];
      return reply instanceof Error ? reply : rowOf(name, reply);
    });
  }

  async extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    const { name, args } = extendCall({ lease, leaseFor });
    return isYes(await this.#hashes.run(EXTEND, name, ...args));
  }

  async extendMany(extensions: readonly LeaseExtension[]): Promise<(boolean | Error)[]> {
    return yesOrError(await this.#hashes.runMany(EXTEND, extensions.map(extendCall)));
  }

  async release(lease: LeaseId, ending: Ending): Promise<boolean> {
    const { name, args } = releaseCall({ lease, ending });
    return isYes(await this.#hashes.run(RELEASE, name, ...args));
  }

  async releaseMany(ends: readonly LeaseEnd[]): Promise<(boolean | Error)[]> {
    return yesOrError(await this.#hashes.runMany(RELEASE, ends.map(releaseCall)));
  }

  async find(name: string): Promise<LockRow | undefined> {
    const reply = await this.#hashes.run(FIND, name);
    return reply === null ? undefined : rowOf(name, reply);
  }

  async list(prefix: string, limit: number): Promise<LockRow[]> {
    const rows: LockRow[] = [];
    for await (const names of this.#hashes.names(prefix, limit)) {
      const calls = names.map((name) => ({ name, args: [] }));
      const replies = calls.length === 0 ? [] : await this.#hashes.runMany(LIST, calls);
      for (const [i, name] of names.entries()) {
        const reply = replies[i];
        if (reply instanceof Error) throw reply;
        if (reply !== null) rows.push(rowOf(name, reply)); // else it has expired
      }
      if (rows.length >= limit) break;
    }
    return rows.slice(0, limit);
  }

  async warning(): Promise<string | undefined> {
    const policy = await this.#hashes.evictionPolicy();
    if (policy === undefined) return undefined;
    return `the Redis server evicts keys when its memory is full (maxmemory-policy ${policy}): leases and holds may be lost, expected noeviction`;
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    return isYes(await this.#hashes.run(FORCE_RELEASE, name, String(token)));
  }
}

function acquireCall({ name, owner, requestId, host, leaseFor, force }: AcquireRequest): NameCall {
  return { name, args: [owner, requestId, String(host), String(leaseFor), force ? '1' : '0'] };
}

function extendCall({ lease: { name, token, requestId }, leaseFor }: LeaseExtension): NameCall {
  return { name, args: [String(token), String(requestId), String(leaseFor)] };
}

function releaseCall({ lease: { name, token, requestId }, ending }: LeaseEnd): NameCall {
  const { state, holdFor, keepFor = '', error } = ending;
  const text = error === undefined ? [] : [String(error).slice(0, MAX_ERROR_LENGTH)];
  return { name, args: [String(token), String(requestId), state, String(holdFor), String(keepFor), ...text] };
}

function yesOrError(replies: readonly unknown[]): (boolean | Error)[] {
  return replies.map((reply) => (reply instanceof Error ? reply : isYes(reply)));
}

function isYes(reply: unknown): boolean {
  return Number(reply) === 1;
}

function rowOf(name: string, reply: unknown): LockRow {
  if (!Array.isArray(reply)) throw new Error(`unexpected reply of the lock script: ${String(reply)}`);
  const [
    token,
    owner,
    requestId,
    host,
    state,
    tookOver,
    leaseLeft,
    holdLeft,
    acquiredAgo,
    finishedAgo,
    lastError,
    now,
  ] = reply as [string, string, string, string, LockState, ...(string | null)[]];
  const ms = (micros: string | null | undefined): number => Number(micros) / 1000;
  return {
    name,
    token: Number(token),
    owner,
    requestId,
    host,
    state,
    tookOver: tookOver === '1',
    leaseLeft: ms(leaseLeft),
    holdLeft: ms(holdLeft),
    acquiredAgo: ms(acquiredAgo),
    finishedAgo: finishedAgo === null ? undefined : ms(finishedAgo),
    lastError: lastError ?? undefined,
    now: Math.floor(ms(now)),
  };
}
