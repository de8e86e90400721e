import { type NameCall, Script } from './script.ts';

/** An index is deleted this long after it was last changed, and the retention, in microseconds: records may be held for long. */
const KEPT_MICROS = 365 * 86_400_000_000;

/**
 * In a cluster the records of an index may be in other slots than it is. A name is then added again when a client has not done
 * so for this long, in milliseconds.
 */
export const INDEXED_FOR_MS = 600_000;

/** No client removes it for this long: one that has added it may claim it meanwhile, and that claim may be long under way. */
const MARKED_FOR_MS = 2 * INDEXED_FOR_MS;

/**
 * Part of a script: a call of {@link indexCall} adds names to an index, a sorted set. It changes nothing else, and never
 * fails. For each of them it looks for the records of two names in the set, from a random place on, and removes names
 * whose records have expired: so at most some half of the names in it have none.
 *
 * In a cluster the records may be in other slots, and clients look for them: of {@link SOME} names, and of those that are listed.
 * A name may be claimed between such a look and its removal, so a mark beside the index, for each name that was added lately, keeps
 * it there.
 */
export const INDEX: string = `
if op == 'index' then
  local records = string.sub(key, 1, -#ARGV[3] - 1) .. ARGV[4]
  pcall(function()
    for i = 5, #ARGV do redis.call('ZADD', key, '0', ARGV[i]) end
    keep(now + ${KEPT_MICROS})
    if #KEYS == 1 then -- the records are in other slots
      for i = 5, #ARGV do
        redis.call('HSET', key .. ':' .. ARGV[i], 'at', digits(now))
        redis.call('PEXPIRE', key .. ':' .. ARGV[i], '${MARKED_FOR_MS}')
      end
      return
    end
    local first = now % redis.call('ZCARD', key)
    local last = first + 2 * (#ARGV - 4) - 1
    for _, name in ipairs(redis.call('ZRANGE', key, digits(first), digits(last))) do
      if redis.call('EXISTS', records .. name) == 0 then redis.call('ZREM', key, name) end
    end
  end)
  return 1
end
if op == 'unindex' then
  local kept = string.sub(key, 1, -#ARGV[3] - 1) .. ARGV[4]
  pcall(function()
    for i = 5, #ARGV do
      if redis.call('EXISTS', kept .. ARGV[i]) == 0 then redis.call('ZREM', key, ARGV[i]) end
    end
  end)
  return 1
end
`;

/** An index: its key, and the beginning of the keys of its records, both after the prefix. */
export interface NameIndex {
  readonly key: string;
  readonly records: string;
}

/** Adds names to an index. */
export function indexCall({ key, records }: NameIndex, names: readonly string[]): NameCall {
  return { name: key, args: ['index', key, records, ...names] };
}

/**
 * Removes names without records.
 *
 * @param isApart the records are in other slots, where the client has found none: those that were added lately stay.
 */
export function unindexCall(
  { key, records }: NameIndex,
  names: readonly string[],
  isApart: boolean,
): NameCall {
  return { name: key, args: ['unindex', key, isApart ? `${key}:` : records, ...names] };
}

/** Names of the index that begin with a text, after another one, in the order of their bytes. No text has the byte 255. */
export const NAMES: Script = new Script(`
local prefix, after, limit = ARGV[2], ARGV[3], ARGV[4]
local from = after == '' and '[' .. prefix or '(' .. after
return redis.call('ZRANGEBYLEX', key, from, '(' .. prefix .. '\\255', 'LIMIT', '0', limit)
`);

/** At most that many names of an index, from a random place on. */
export const SOME: Script = new Script(`
local size = redis.call('ZCARD', key)
if size == 0 then return {} end
local first = now % size
return redis.call('ZRANGE', key, digits(first), digits(first + tonumber(ARGV[2]) - 1))
`);
