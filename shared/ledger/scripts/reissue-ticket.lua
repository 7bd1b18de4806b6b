-- Makes a new ticket for a task whose ticket did not reach BullMQ, or is gone from it.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] bodies: the tenant's tasks' bodies
-- KEYS[3] outbox: the shard's tickets to add
-- ARGV[1] id: the task's
-- ARGV[2] ticket: number of the one that is missing
-- ARGV[3] tenant: its id
-- RETURNS {'reissued', state} | {'needless'}
-- include: states
local task = load_state(KEYS[1], KEYS[2], ARGV[1])
if not task or task.completedAt then return { 'needless' } end
if task.status == 'running' or not task.granted or task.ticket ~= tonumber(ARGV[2]) then return { 'needless' } end
local time = redis.call('TIME')
task.ticket = task.ticket + 1
local state = cjson.encode(task)
redis.call('HSET', KEYS[1], ARGV[1], state)
redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[3] .. '/' .. ARGV[1] .. '.' .. task.ticket)
return { 'reissued', state }
