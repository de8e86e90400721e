import { type NameCall, Script } from './script.ts';

/** An index is deleted this long after it was last changed, and the retention, in microseconds: records may be held for long. */
const KEPT_MICROS = 365 * 86_400_000_000;

/**
 * Part of a script: a call of {@link indexCall} adds names to an index, a sorted set. It changes nothing else, and never
 * fails. For each of them it looks for the records of two names in the set, from a random place on, and removes names
 * whose records have expired: so at most some half of the names in it have none.
 */
export const INDEX: string = `
if op == 'index' then
  pcall(function()
    for i = 3, #ARGV do redis.call('ZADD', key, '0', ARGV[i]) end
    keep(now + ${KEPT_MICROS})
    local first = now % redis.call('ZCARD', key)
    local last = first + 2 * (#ARGV - 2) - 1
    for _, name in ipairs(redis.call('ZRANGE', key, digits(first), digits(last))) do
      if redis.call('EXISTS', key .. '/' .. name) == 0 then redis.call('ZREM', key, name) end
    end
  end)
  return 1
end
`;

/** Adds names to an index, in the same script as the edits of their records. */
export function indexCall(index: string, names: readonly string[]): NameCall {
  return { name: index, args: ['index', ...names] };
}

/** Names of the index that begin with a text, after another one, in the order of their bytes. No text has the byte 255. */
export const NAMES: Script = new Script(`
local prefix, after, limit = ARGV[2], ARGV[3], ARGV[4]
if not limit then return 0 end
local from = after == '' and '[' .. prefix or '(' .. after
return redis.call('ZRANGEBYLEX', key, from, '(' .. prefix .. '\\255', 'LIMIT', '0', limit)
`);

/** Of {@link NAMES}. The second key is at the place of a record: an error tells whether those are in another slot than the index. */
export function namesCalls(index: string, prefix: string, after: string, limit: number): readonly NameCall[] {
  return [
    { name: index, args: [prefix, after, String(limit)] },
    { name: `${index}/x`, args: [] },
  ];
}
