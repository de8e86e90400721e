import { CLOCK_BACK_MS } from '../../cluster/plausible.ts';
import { LONGEST_AHEAD_MS } from '../../records/edited.ts';
import type { Answer, Edit, ListedEdition, Phase, Row } from '../../records/records.ts';
import { INDEX } from './name-index.ts';
import { Script } from './script.ts';

/** Kinds of reads. A key of others is an error for one alone, and not looked at by those that look through many. */
const ALONE = '0';
const BRIEF = '1';
export const LISTED = '2';

/** Translates `records/edited.ts` to Lua: one hash for each name, one script for all edits. */
export const EDIT: Script = new Script(`
local op = ARGV[2]
${INDEX}
local back, latest = now + ${CLOCK_BACK_MS * 1000}, now + ${LONGEST_AHEAD_MS * 1000}
local phases = {leased = true, seized = true, held = true}

local function instant(text)
  local number = whole(text)
  if number and number <= latest then return number end
end

local f = redis.pcall('HMGET', key, 'token', 'phase', 'until', 'at', 'changedAt', 'id', 'note', 'replaced', 'brief', 'older')
if f.err then -- a key of others
  local isLookedThrough = op == 'read' and ARGV[5] ~= '${ALONE}' and string.find(f.err, 'WRONGTYPE', 1, true)
  return isLookedThrough and {'0', digits(now)} or f
end
local r = {token = plausible(f[1]), phase = phases[f[2]] and f[2], ends = instant(f[3]), at = instant(f[4]),
  changedAt = instant(f[5]), id = f[6], note = f[7] or '', replaced = f[8] or '', older = f[10] or ''}
local isBriefKept = (f[9] or '') ~= ''
local isThere = f[1] or f[2] or redis.call('EXISTS', key) == 1
local damage = isThere and (not r.token and 'token' or not r.phase and 'phase' or not r.ends and 'until' or not r.at and 'at'
  or not r.changedAt and 'changedAt' or not r.id and 'id')

local function left()
  return not damage and r.ends and r.at and r.ends > now and math.max(r.at, r.changedAt) <= back and r.ends - now or 0
end

local function text() return redis.call('HGET', key, 'text') or '' end

local function row(isDone, text, damage)
  if not isThere then return {'0', digits(now)} end
  local at = r.at or now
  return {isDone and '1' or '0', digits(now), digits(r.token or whole(f[1]) or 0), r.id or '', r.phase or 'held', text or '', r.note,
    digits(now - at), digits(now - (r.changedAt or at)), digits(left()), damage or '', r.replaced}
end

-- the record with these further fields
local function set(...)
  isThere, damage = true, nil
  redis.call('HSET', key, 'token', digits(r.token), 'phase', r.phase, 'until', digits(r.ends), 'at', digits(r.at),
    'changedAt', digits(r.changedAt), 'id', r.id, 'note', r.note, 'replaced', r.replaced, ...)
end

if op == 'claim' then
  local id, holder, forMs, force = ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'
  local isHeld = r.phase == 'held'
  if isThere and left() > 0 and not (isHeld and force) then return row(not isHeld and r.id == id, text()) end
  local isSeized = r.phase and not isHeld
  r = {token = math.max((r.token or -1) + 1, now), phase = isSeized and 'seized' or 'leased', ends = after(forMs), at = now,
    changedAt = now, id = id, note = '', replaced = damage or '', older = ''}
  set('text', holder)
  keep(r.ends)
  return row(true, holder)
end

if op == 'amend' then
  local token, isBound, id, phase, forMs, keepMs, note = ARGV[3], ARGV[4] == '1', ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), ARGV[9]
  if not isThere or damage or r.token ~= tonumber(token) then return row(false) end
  if isBound then
    local isRepeated = phase == 'held' and r.phase == 'held' and r.note == note
    if r.id ~= id or r.phase == 'held' or left() == 0 then return row(r.id == id and isRepeated) end
  end
  r.ends = after(forMs)
  if phase ~= '' then r.phase, r.note, r.changedAt = phase, note, now end
  if r.id == '' then set('brief', ARGV[8]) else set() end
  keep(r.ends, keepMs)
  return row(true)
end

if op == 'put' then
  local given, over, keepMs, room = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
  local held = r.token or 0
  if given and given < held and held ~= over then return row(false) end
  local isAsBrief = (f[9] or '') == ARGV[6]
  if given and given == r.token and not damage and isAsBrief and text() == ARGV[3] then return row(true) end
  local token = given or math.max(held + 1, now)
  if keepMs then room = 0 end
  local kept = {}
  if r.token and r.at and room > 0 and held < token and not isBriefKept then
    kept[1] = digits(held)
    redis.call('HSET', key, 'at:' .. kept[1], digits(r.at), 'text:' .. kept[1], text())
  end
  for old in string.gmatch(r.older, '%d+') do
    if #kept < room and tonumber(old) < token then kept[#kept + 1] = old
    elseif old ~= kept[1] then redis.call('HDEL', key, 'at:' .. old, 'text:' .. old) end
  end
  r = {token = token, phase = 'held', ends = now, at = now, changedAt = now, id = '', note = '', replaced = ''}
  set('text', ARGV[3], 'brief', ARGV[6], 'older', table.concat(kept, ','))
  keep(now, keepMs)
  return row(true)
end

if op == 'delete' then
  redis.call('DEL', key)
  return {isThere and '1' or '0', digits(now)}
end

-- an older edition in place of the present one; returns its damaged field and its text
local function become(token)
  local found = redis.call('HMGET', key, 'at:' .. token, 'text:' .. token)
  isThere = found[1] or found[2]
  r.token, r.at = tonumber(token), instant(found[1])
  r.changedAt, r.note = r.at, ''
  return not plausible(token) and 'token' or not r.at and 'at' or not found[2] and 'text', found[2] or ''
end

if op == 'editions' then
  local most, older, all = tonumber(ARGV[3]), r.older, {}
  local function add(damage, text)
    all[#all + 1] = row(true, string.match(string.sub(text, 1, most), '^[^\\n]*'), damage)
    all[#all][13] = tostring(#text)
  end
  if isThere then add(damage, text()) end
  for old in string.gmatch(older, '%d+') do
    damage = nil
    local damaged, found = become(old)
    isThere = true -- also if its fields are gone
    add(damaged, found)
  end
  return all
end

local newerThan, wanted, isBrief = tonumber(ARGV[3]), ARGV[4], ARGV[5] == '${BRIEF}'
local found
if wanted ~= '' and tonumber(wanted) ~= whole(f[1]) then
  damage, found = become(wanted)
elseif isThere and not isBrief and not damage and r.token > newerThan then
  found = redis.call('HGET', key, 'text')
  damage = not found and r.id == '' and 'text' -- that of a lock is for people
  if r.id == '' and not isBriefKept then keep(now) end
end
if r.token and r.token <= newerThan then isThere = false end
return row(true, found, damage)
`);

/** The arguments of an edit in the script, from `ARGV[2]` on. */
export function argsOf(edit: Edit): readonly unknown[] {
  switch (edit.op) {
    case 'claim':
      return [edit.id, edit.text, edit.forMs, edit.force ? 1 : 0];
    case 'amend': {
      const { token, id, phase, forMs, keepMs, note } = edit;
      return [token, id === undefined ? 0 : 1, id, phase, forMs, keepMs, note];
    }
    case 'put':
      return [edit.text, edit.token, edit.over, edit.keepMs, edit.older];
    case 'read':
      return [edit.newerThan ?? -1, edit.token, edit.isBrief ? BRIEF : ALONE];
    case 'delete':
      return [];
  }
}

/** The reply of an edit. */
export function answerOf(reply: unknown): { readonly now: number; readonly answer: Answer } {
  const [isDone, micros, ...fields] = partsOf(reply);
  const row = fields.length === 0 ? undefined : rowOf(fields);
  return { now: Math.floor(Number(micros) / 1000), answer: { isDone: isDone === '1', row } };
}

/** One part of the reply of `editions`. */
export function editionOf(part: unknown): ListedEdition {
  const [, , ...fields] = partsOf(part);
  return { row: rowOf(fields), bytes: Number(fields[10]) };
}

function partsOf(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw new Error(`unexpected reply of a script: ${String(reply)}`);
  return reply as string[];
}

function rowOf(fields: readonly string[]): Row {
  const [token, id = '', phase, text = '', note = '', age, changedAgo, left, damage, replaced] = fields;
  const ms = (micros: string | undefined): number => Number(micros) / 1000;
  return {
    token: Number(token),
    id,
    phase: phase as Phase,
    text,
    note,
    age: ms(age),
    changedAgo: ms(changedAgo),
    left: ms(left),
    damage: damage || undefined,
    replaced: replaced || undefined,
  };
}
