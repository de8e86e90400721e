import { Script } from './script.ts';

/**
 * Cells as hashes: the field `record` is the text, `main` the id of its main text, `brief` is 1 where reads do not prolong it, and each
 * long text has a field. An index is a sorted set of names by when their records expire.
 *
 * A name is added to an index by the script that has swapped its record. `indexApart` is for an index in another slot: it may
 * come after a later one, so it never shortens the time of a name. An index that can't be changed fails nothing.
 */
export const CELLS: Script = new Script(`
local op, isWhole, known, retention = ARGV[1], ARGV[2] == '1', ARGV[3], tonumber(ARGV[4])

-- a hash without a text was edited by hand
local function textOr(found)
  return found or redis.call('EXISTS', key) == 1 and ''
end

-- of a text that is returned, if it is asked for and not known: this read prolongs it
local function mainOf(text, main, brief)
  if not text or not isWhole or main and main ~= '' and main == known then return false end
  if retention and brief == '' then keep(retention) end
  return main and redis.call('HGET', key, 'long:' .. main)
end

if op == 'look' then
  local found = redis.pcall('HMGET', key, 'record', 'main', 'brief')
  if found.err then -- a key of others: not looked at by those that look through many
    return ARGV[5] == '1' and string.find(found.err, 'WRONGTYPE', 1, true) and {micros} or found
  end
  local text = textOr(found[1])
  return {micros, text, mainOf(text, found[2], found[3])}
end

if op == 'swap' then
  local before, after, main = ARGV[5] == '1' and ARGV[6], ARGV[7] == '1' and ARGV[8], ARGV[9]
  local keepMs, brief, id, long = tonumber(ARGV[10]), ARGV[11], ARGV[12], ARGV[13]
  local found = redis.call('HMGET', key, 'record', 'main', 'brief')
  local text = textOr(found[1])
  if text ~= before and not (after and text == after) then
    return {micros, '0', text, mainOf(text, found[2], found[3])}
  end
  if not after then
    redis.call('DEL', key)
    return {micros, '1'}
  end
  redis.call('HSET', key, 'record', after, 'main', main, 'brief', brief)
  if id ~= '' then redis.call('HSET', key, 'long:' .. id, long) end
  for i = 14, #ARGV do redis.call('HDEL', key, 'long:' .. ARGV[i]) end
  keep(keepMs)
  done[key] = true
  return {micros, '1'}
end

if op == 'long' then
  local texts, most = {micros}, tonumber(ARGV[2])
  for i = 3, #ARGV do
    local text = redis.call('HGET', key, 'long:' .. ARGV[i])
    texts[i - 1] = text and most and string.match(string.sub(text, 1, most), '^[^\\n]*') or text
  end
  return texts
end

local ms = math.floor(micros / 1000)
if op == 'list' then
  local names, beginning = {micros}, ARGV[2]
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key, digits(ms), '+inf')) do
    if string.sub(name, 1, #beginning) == beginning then names[#names + 1] = name end
  end
  return names
end

local isApart, records = op == 'indexApart', string.sub(key, 1, -#ARGV[2] - 1) .. ARGV[3]
pcall(function()
  for i = 4, #ARGV, 2 do
    local name, till = ARGV[i], ms + tonumber(ARGV[i + 1])
    if isApart then till = math.max(till, tonumber(redis.call('ZSCORE', key, name) or 0)) end
    if isApart or done[records .. name] then redis.call('ZADD', key, digits(till), name) end
  end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', digits(ms - 1))
  local last = redis.call('ZRANGE', key, '-1', '-1', 'WITHSCORES')[2]
  if last then keep(tonumber(last) - ms + 1) end
end)
return {micros}
`);
