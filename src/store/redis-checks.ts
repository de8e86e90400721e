import { type InstanceReport, MOST_REPORTS, type StoredReport } from '../cluster/store-contract.ts';
import type { NameCall, RedisHashes } from '../redis/hashes.ts';
import { Script } from '../redis/script.ts';

/** The hash of the reports: no name is empty, so no snapshot has its key. */
const REPORTS = '';

/** How long reports that have expired are kept at most, in microseconds. */
const PURGE_MICROS = 60_000_000;

/**
 * For the hash of a snapshot: its version. For that of the reports, with arguments: stores a report. Of each instance the hash
 * has two fields: `at:` with the instants of the write and of the end, and `text:`; beside these `until`, the last of the ends,
 * and `purgeAt`, when reports that have expired are deleted next.
 */
const CHECK = new Script(`
local instance, text = ARGV[2], ARGV[3]
if not instance then
  local held = redis.pcall('HGET', key, 'version')
  if type(held) ~= 'table' then return digits(plausible(held) or 0) end
  return string.find(held.err, 'WRONGTYPE', 1, true) and '0' or held
end
local ends = after(ARGV[4])
local held = redis.call('HMGET', key, 'until', 'purgeAt', 'at:' .. instance)
local purgeAt = whole(held[2])
if not purgeAt or purgeAt <= now or purgeAt > now + ${PURGE_MICROS} then
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local other = string.match(field, '^at:(.*)$')
    local till = other and whole(string.match(redis.call('HGET', key, field), '%d+$'))
    if other and (not till or till <= now) then redis.call('HDEL', key, field, 'text:' .. other) end
  end
  redis.call('HSET', key, 'purgeAt', digits(now + ${PURGE_MICROS}))
end
if not held[3] and redis.call('HLEN', key) >= ${2 * MOST_REPORTS + 1} then return '0' end
local last = math.max(ends, whole(held[1]) or 0)
redis.call('HSET', key, 'at:' .. instance, digits(now) .. ' ' .. digits(ends), 'text:' .. instance, text, 'until', digits(last))
keep(last, 0)
return '1'
`);

/** Returns instance, age in microseconds and text of each report of an instance that begins with the argument. */
const LIST = new Script(`
local begin = 'at:' .. ARGV[2]
local found = {}
for _, field in ipairs(redis.call('HKEYS', key)) do
  if string.sub(field, 1, #begin) == begin then
    local instance = string.sub(field, 4)
    local held = redis.call('HMGET', key, field, 'text:' .. instance)
    local at, ends = string.match(held[1], '^(%d+) (%d+)$')
    if at and held[2] and tonumber(ends) > now then found[#found + 1] = {instance, digits(now - at), held[2]} end
  end
end
return found
`);

/** The step `versions`: one command, or one per slot of a cluster. */
export async function checkHashes(
  hashes: RedisHashes,
  names: readonly string[],
  report: InstanceReport | undefined,
): Promise<number[]> {
  const calls: NameCall[] = names.map((name) => ({ name, args: [] }));
  if (report !== undefined) {
    const { instance, text, keepFor } = report;
    calls.push({ name: REPORTS, args: [instance, text, String(keepFor)] });
  }
  const replies = await hashes.runMany(CHECK, calls);
  const failed = replies.find((reply) => reply instanceof Error);
  if (failed !== undefined) throw failed;
  return names.map((_, i) => Number(replies[i]));
}

/** The step `reports`. */
export async function listReports(hashes: RedisHashes, beginning: string): Promise<StoredReport[]> {
  const replies = (await hashes.run(LIST, REPORTS, beginning)) as [string, string, string][];
  return replies.map(([instance, micros, text]) => ({ instance, text, age: Number(micros) / 1000 }));
}
