-- Makes a schedule, unless one was made under the same key or the tenant has all it may have.
-- KEYS[1] schedules: the tenant's
-- KEYS[2] numbers: of the tenant's schedules
-- KEYS[3] count: the highest number so far
-- KEYS[4] made-under: keys under which schedules were made
-- KEYS[5] due: the shard's
-- KEYS[6] events: the tenant's event stream
-- KEYS[7] tenants: those of the shard that are not active
-- ARGV[1] options: JSON of tenant, channel, maxEvents, maxSchedules
-- ARGV[2] id: of the schedule
-- ARGV[3] record: its JSON
-- ARGV[4] wake: when to look at it, ms, or empty
-- ARGV[5] key: under which it is made, or empty
-- ARGV[6] digest: of what came under that key
-- ARGV[7] about: JSON for the event stream
-- RETURNS {'created', number} | {'known', id} | {'conflict', id} | {'full', how many there are} | {'closed', state of its tenant}
-- include: tell
-- include: tenant-state
local options = cjson.decode(ARGV[1])
local closed = closed_state(KEYS[7], options.tenant)
if closed then return { 'closed', closed } end
local known = ARGV[5] ~= '' and redis.call('HGET', KEYS[4], ARGV[5])
if known then
  local id, digest = string.match(known, '^(%S+) (.*)$')
  return { digest == ARGV[6] and 'known' or 'conflict', id }
end
-- The client sends a call again when its reply was lost.
local earlier = redis.call('ZSCORE', KEYS[2], ARGV[2])
if earlier then return { 'created', tonumber(earlier) } end
local there = redis.call('HLEN', KEYS[1])
if there >= options.maxSchedules then return { 'full', there } end
local number = redis.call('INCR', KEYS[3])
redis.call('HSET', KEYS[1], ARGV[2], '1 ' .. number .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[2], number, ARGV[2])
if ARGV[4] ~= '' then redis.call('ZADD', KEYS[5], ARGV[4], options.tenant .. '/' .. ARGV[2]) end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[4], ARGV[5], ARGV[2] .. ' ' .. ARGV[6]) end
tell(options, KEYS[6], 'schedule.created', ARGV[2], '', number, ARGV[7])
return { 'created', number }
