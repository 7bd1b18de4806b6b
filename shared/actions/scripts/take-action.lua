-- Takes the action of a shard that has been due longest, for the time of a lease.
-- KEYS[1] due: zset, the shard's actions by the time of their next step, ms
-- ARGV[1] lease: int, ms until another worker may take it
-- RETURNS {`<tenant>/<id>`, now in ms}, or an empty list when none is due
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local member = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1]
if not member then return {} end
redis.call('ZADD', KEYS[1], now + ARGV[1], member)
return { member, string.format('%d', now) }
