-- Creates a schedule, unless one was created under the same key or the tenant has its maximum.
-- KEYS[1] schedules: the tenant's
-- KEYS[2] numbers: of the tenant's schedules
-- KEYS[3] count: the highest number so far
-- KEYS[4] creation-keys: id and digest by the key of the creation
-- KEYS[5] due: the shard's
-- KEYS[6] events: the tenant's event stream
-- KEYS[7] tenant-states: of the shard's tenants that are not active
-- ARGV[1] options: JSON, tenant, channel, maxEvents and maxSchedules
-- ARGV[2] id: string, of the schedule
-- ARGV[3] record: JSON, of the schedule
-- ARGV[4] wake: ms since the epoch, when it is due; or empty
-- ARGV[5] key: string, under which it is created once; or empty
-- ARGV[6] digest: string, of the request under that key
-- ARGV[7] about: JSON, name, agent and session for the event
-- RETURNS {'created', number, 1 when it is due before all others of the shard, else 0} | {'known', id} | {'conflict', id} | {'full', number of schedules} | {'closed', state of the tenant}
-- include: publish-event
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
if earlier then return { 'created', tonumber(earlier), 1 } end
local count = redis.call('HLEN', KEYS[1])
if count >= options.maxSchedules then return { 'full', count } end
local number = redis.call('INCR', KEYS[3])
redis.call('HSET', KEYS[1], ARGV[2], '1 ' .. number .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[2], number, ARGV[2])
local is_next = 0
if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[5], ARGV[4], options.tenant .. '/' .. ARGV[2])
  if redis.call('ZRANK', KEYS[5], options.tenant .. '/' .. ARGV[2]) == 0 then is_next = 1 end
end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[4], ARGV[5], ARGV[2] .. ' ' .. ARGV[6]) end
publish_event(options, KEYS[6], 'schedule.created', ARGV[2], '', number, ARGV[7])
return { 'created', number, is_next }
