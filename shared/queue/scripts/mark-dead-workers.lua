-- Moves workers without a recent heartbeat to the dead ones, and drops records that are kept no longer.
-- KEYS[1] workers: sorted set, worker -> its last heartbeat, ms
-- KEYS[2] dead: sorted set, dead worker -> its last heartbeat, ms
-- KEYS[3] notes: hash, worker -> JSON of its last report
-- KEYS[4] drains: hash, worker -> when its drain was requested, ms
-- ARGV[1] silent: int, ms without a heartbeat after which a worker is dead
-- ARGV[2] retention: int, ms after its last heartbeat for which a dead worker is kept
-- ARGV[3] records: int, how many workers are kept, dead ones included
-- ARGV[4] max: int, workers that one call moves, and drops
-- RETURNS {worker, ...}: workers that are dead now and were not before
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local marked = {}
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1], 'WITHSCORES', 'LIMIT', 0, ARGV[4])
for position = 1, #silent, 2 do
  local worker, beat = silent[position], silent[position + 1]
  redis.call('ZREM', KEYS[1], worker)
  redis.call('ZADD', KEYS[2], beat, worker)
  marked[#marked + 1] = worker
end

local function drop(workers)
  if #workers == 0 then return end
  redis.call('ZREM', KEYS[2], unpack(workers))
  redis.call('HDEL', KEYS[3], unpack(workers))
  redis.call('HDEL', KEYS[4], unpack(workers))
end

drop(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2], 'LIMIT', 0, ARGV[4]))
local excess = redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2]) - ARGV[3]
if excess > 0 then drop(redis.call('ZRANGE', KEYS[2], 0, math.min(excess, ARGV[4]) - 1)) end

-- The drain of a worker that ended while it was requested.
for _, worker in ipairs(redis.call('HKEYS', KEYS[4])) do
  local known = redis.call('ZSCORE', KEYS[1], worker) or redis.call('ZSCORE', KEYS[2], worker)
  if not known then redis.call('HDEL', KEYS[4], worker) end
end
return marked
