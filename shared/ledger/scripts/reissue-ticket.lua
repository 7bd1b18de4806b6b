-- Makes a new ticket for a task whose ticket did not reach BullMQ, or is gone from it.
-- KEYS[1] record: the task's
-- KEYS[2] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[3] outbox: the shard's tickets to add
-- ARGV[1] id: the task's
-- ARGV[2] ticket: number of the one that is missing
-- ARGV[3] tenant: its id
-- RETURNS {'reissued', state} | {'needless'}
local state = redis.call('HGET', KEYS[1], 'state') or redis.call('HGET', KEYS[2], ARGV[1])
if not state then return { 'needless' } end
local task = cjson.decode(state)
local holds_ticket = task.granted or task.notBefore
if task.status == 'running' or not holds_ticket or task.ticket ~= tonumber(ARGV[2]) then return { 'needless' } end
local time = redis.call('TIME')
task.ticket = task.ticket + 1
state = cjson.encode(task)
if task.parked then
  redis.call('HSET', KEYS[2], ARGV[1], state)
else
  redis.call('HSET', KEYS[1], 'state', state)
end
redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[3] .. '/' .. ARGV[1] .. '.' .. task.ticket)
return { 'reissued', state }
