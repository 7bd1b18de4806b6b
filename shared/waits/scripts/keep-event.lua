-- Keeps an event for the runs that wait for it, and opens its sending. The oldest events that are kept make room for it.
-- KEYS[1] event: hash, the event
-- KEYS[2] kept: zset, the tenant's events that are kept by ms
-- KEYS[3] names: zset, the same by name
-- KEYS[4] sent: text, how many runs it resumed when it was sent
-- KEYS[5] open: zset, events of the shard that are being sent, by ms
-- ARGV[1] tenant: its id
-- ARGV[2] id: of the event
-- ARGV[3] name: as it stands in the members of `names`
-- ARGV[4] event: JSON of it
-- ARGV[5] deliver: `all`, or `one` for one run
-- ARGV[6] keep: int, ms for which it is kept
-- ARGV[7] max: int, events that are kept
-- ARGV[8] prefix: text, what the names of the tenant's events begin with
-- RETURNS {'kept'} | {'open'}: it is being sent | {'sent', how many runs it resumed}
local sent = redis.call('GET', KEYS[4])
if sent then return { 'sent', sent } end
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'open' } end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local keep = tonumber(ARGV[6])

local function forget(members)
  for _, member in ipairs(members) do
    redis.call('ZREM', KEYS[2], member)
    redis.call('ZREM', KEYS[3], member)
    local key = ARGV[8] .. string.match(member, '^[^/]*/[^/]*/(.*)$')
    -- One that is being sent goes with its end.
    if redis.call('PTTL', key) ~= -1 then redis.call('DEL', key) end
  end
end

redis.call('HSET', KEYS[1], 'event', ARGV[4], 'deliver', ARGV[5], 'at', now)
forget(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - keep, 'LIMIT', 0, 100))
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[7])
if over >= 0 then forget(redis.call('ZRANGE', KEYS[2], 0, over)) end
local member = ARGV[3] .. '/' .. string.format('%013.0f', now) .. '/' .. ARGV[2]
redis.call('ZADD', KEYS[2], now, member)
redis.call('ZADD', KEYS[3], 0, member)
redis.call('PEXPIRE', KEYS[2], keep)
redis.call('PEXPIRE', KEYS[3], keep)
redis.call('ZADD', KEYS[5], now, ARGV[1] .. '/' .. ARGV[2])
return { 'kept' }
