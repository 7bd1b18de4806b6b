-- Moves a running attempt to another worker, a hub, because the daemon that runs it connected there. Its token stays.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[4] signals: hash, unanswered stops of the shard by lease member, JSON
-- ARGV[1] id: text, the task's id
-- ARGV[2] token: int, the attempt's fencing token
-- ARGV[3] member: text, the attempt's lease member
-- ARGV[4] worker: text, the hub's name
-- ARGV[5] daemon: text, id of the daemon
-- ARGV[6] lease: int, ms
-- RETURNS 'adopted', state, body, the worker before | 'gone': it is not this daemon's, or runs no more
-- include: body-layout
-- include: states
local text = redis.call('HGET', KEYS[1], ARGV[1])
-- An attempt of a daemon has a tail.
local task = text and read_known(text)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[2]) or task.daemon ~= ARGV[5] then return { 'gone' } end
if not redis.call('ZSCORE', KEYS[3], ARGV[3]) then return { 'gone' } end
local before, state = task.worker, text
if before ~= ARGV[4] then
  task.worker = ARGV[4]
  state = write_state(task)
  redis.call('HSET', KEYS[1], ARGV[1], state)
end
-- A lease under a stop ends with its grace.
if redis.call('HEXISTS', KEYS[4], ARGV[3]) == 0 then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[6], ARGV[3])
end
return { 'adopted', state, redis.call('HGET', KEYS[2], ARGV[1]), before }
