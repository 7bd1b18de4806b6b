-- Compares a tenant's depth with its limits, and publishes an event when it crossed one since the last time. A level ends below
-- nine tenths of its depth, so that a tenant that stays near it gets one event.
-- KEYS[1] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[2] pressure: hash, levels of the shard's tenants that have one
-- KEYS[3] events: stream, the tenant's events
-- ARGV[1] options: JSON, tenant, channel, maxEvents, warningDepth and criticalDepth
-- RETURNS the level now: 'critical' | 'warning' | 'none'
-- include: depth
local options = cjson.decode(ARGV[1])
local depth = depth_of(KEYS[1])
local known = redis.call('HGET', KEYS[2], options.tenant) or 'none'
local ranks = { none = 0, warning = 1, critical = 2 }
local depths = { none = 0, warning = options.warningDepth, critical = options.criticalDepth }

local level = depth >= depths.critical and 'critical' or depth >= depths.warning and 'warning' or 'none'
if ranks[level] < ranks[known] and depth >= depths[known] * 0.9 then level = known end
if level == known then return level end

local event = 'backpressure.' .. (level == 'none' and 'cleared' or level)
if level == 'none' then
  redis.call('HDEL', KEYS[2], options.tenant)
else
  redis.call('HSET', KEYS[2], options.tenant, level)
end
redis.call('XADD', KEYS[3], 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'depth', depth)
redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
return level
