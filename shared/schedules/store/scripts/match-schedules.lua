-- Finds schedules whose records may hold what a search looks for. The caller compares them exactly: here only ASCII letters are folded.
-- KEYS[1] numbers: of the tenant's schedules
-- KEYS[2] schedules: the tenant's
-- ARGV[1] before: score, only schedules with smaller numbers: `(<number>` or `+inf`
-- ARGV[2] max: integer, schedules that it checks at most
-- ARGV[3] max_bytes: integer, bytes read after which it stops
-- ARGV[4] parts: JSON array of texts in lower case, all of them in the record
-- RETURNS {checked, last, id...}: how many were checked, the number of the last (empty where there are no others), and those that may match
local before, max, max_bytes, parts = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), cjson.decode(ARGV[4])
local newest = redis.call('ZREVRANGEBYSCORE', KEYS[1], before, '-inf', 'WITHSCORES', 'LIMIT', 0, max)
local found, bytes, checked = { 0, '' }, 0, 0

local function may_match(record)
  if not record then return false end
  bytes = bytes + #record
  local folded = string.lower(record)
  for _, part in ipairs(parts) do
    if not string.find(folded, part, 1, true) then return false end
  end
  return true
end

while checked * 2 < #newest and bytes < max_bytes do
  local id = newest[checked * 2 + 1]
  if may_match(redis.call('HGET', KEYS[2], id)) then found[#found + 1] = id end
  checked = checked + 1
end
found[1] = checked
if checked == max or checked * 2 < #newest then found[2] = newest[checked * 2] end
return found
