import { type InstanceReport, MOST_REPORTS, type StoredReport } from '../cluster/store-contract.ts';
import type { RedisHashes } from '../redis/hashes.ts';
import { type NameCall, Script } from '../redis/script.ts';

/** The hash of the reports: no name is empty, so no snapshot has its key. */
const REPORTS = '';

/** How long reports that have expired are kept at most, in microseconds. */
const PURGE_MICROS = 60_000_000;

/**
 * For the hash of the reports: stores one. Of each instance the hash has two fields: `at:` with the instants of the write and
 * of the end, and `text:`; beside these `until`, the last of the ends, and `purgeAt`, when reports that have expired are
 * deleted next.
 */
const REPORT = `
local instance, text = ARGV[2], ARGV[3]
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
`;

/** The last argument of a call that stores a report: no other one has as many. */
const REPORTED = 'report';
const PLACE = 8;

/** A step for the hash of a snapshot, and a report in the same script for that of the reports. A report that fails is lost. */
export function withReport(step: string): Script {
  return new Script(`
if ARGV[${PLACE}] then
  local isStored = pcall(function() ${REPORT} end)
  return isStored and '1' or '0'
end
${step}`);
}

/** The call that stores a report. */
function reportCall({ instance, text, keepFor }: InstanceReport): NameCall {
  const args = [instance, text, String(keepFor)];
  return {
    name: REPORTS,
    args: [...args, ...Array.from({ length: PLACE - 2 - args.length }, () => ''), REPORTED],
  };
}

/**
 * Runs a script of {@link withReport}: one command, or one per slot of a cluster.
 *
 * @returns the reply for each call; an `Error`: that name alone has failed.
 */
export async function runReporting(
  hashes: RedisHashes,
  script: Script,
  calls: readonly NameCall[],
  report: InstanceReport | undefined,
): Promise<unknown[]> {
  if (report === undefined) return hashes.runMany(script, calls);
  const replies = await hashes.runMany(script, [...calls, reportCall(report)]);
  return replies.slice(0, calls.length);
}

/** The version of a snapshot. */
const CHECK = withReport(`
local held = redis.pcall('HGET', key, 'version')
if type(held) ~= 'table' then return digits(plausible(held) or 0) end
return string.find(held.err, 'WRONGTYPE', 1, true) and '0' or held
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
  const calls = names.map((name) => ({ name, args: [] }));
  const replies = await runReporting(hashes, CHECK, calls, report);
  const failed = replies.find((reply) => reply instanceof Error);
  if (failed !== undefined) throw failed;
  return replies.map(Number);
}

/** The step `reports`. */
export async function listReports(hashes: RedisHashes, beginning: string): Promise<StoredReport[]> {
  const replies = (await hashes.run(LIST, REPORTS, beginning)) as [string, string, string][];
  return replies.map(([instance, micros, text]) => ({ instance, text, age: Number(micros) / 1000 }));
}
