-- Creates an action, unless one was created under the same key or the tenant has its maximum under way. The oldest ended ones make room.
-- KEYS[1] actions: hash, the tenant's actions by id, `<version> <open or ended> <JSON>`
-- KEYS[2] due: zset, the shard's actions by the time of their next step, ms
-- KEYS[3] events: stream, the tenant's events
-- KEYS[4] tenant-states: hash, tenants of the shard that are not active
-- KEYS[5] key: string, id and digest of what was created under the caller's key; any name without one
-- ARGV[1] options: JSON, tenant, channel, maxEvents, maxActive, maxKept and keepKeyMs
-- ARGV[2] id: text, of the action
-- ARGV[3] record: JSON
-- ARGV[4] digest: text, of the request under the caller's key, or empty without one
-- ARGV[5] about: JSON, for the event
-- RETURNS {'created'} | {'known', id} | {'conflict', id} | {'full', actions under way} | {'closed', state of the tenant}
-- include: tenant-state
-- include: publish-action
local options, id = cjson.decode(ARGV[1]), ARGV[2]
local closed = closed_state(KEYS[4], options.tenant)
if closed then return { 'closed', closed } end
local known = ARGV[4] ~= '' and redis.call('GET', KEYS[5])
if known then
  local first, digest = string.match(known, '^(%S+) (.*)$')
  return { digest == ARGV[4] and 'known' or 'conflict', first }
end
-- The client sends a call again when its reply was lost.
if redis.call('HEXISTS', KEYS[1], id) == 1 then return { 'created' } end

local ended, open = {}, 0
local stored = redis.call('HGETALL', KEYS[1])
for position = 1, #stored, 2 do
  if string.match(stored[position + 1], '^%d+ (%a+)') == 'ended' then
    ended[#ended + 1] = stored[position]
  else
    open = open + 1
  end
end
if open >= options.maxActive then return { 'full', open } end
table.sort(ended)
for position = 1, #ended + open + 1 - options.maxKept do
  if ended[position] then
    redis.call('HDEL', KEYS[1], ended[position])
    redis.call('ZREM', KEYS[2], options.tenant .. '/' .. ended[position])
  end
end
redis.call('HSET', KEYS[1], id, '1 open ' .. ARGV[3])
redis.call('ZADD', KEYS[2], 0, options.tenant .. '/' .. id)
if ARGV[4] ~= '' then redis.call('SET', KEYS[5], id .. ' ' .. ARGV[4], 'PX', options.keepKeyMs) end
publish_action(options, KEYS[3], 'action.created', ARGV[5])
return { 'created' }
