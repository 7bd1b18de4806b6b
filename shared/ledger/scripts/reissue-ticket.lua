-- Makes a new ticket for a task whose ticket did not reach BullMQ, or is gone from it. A ready ticket has not left for it yet.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[4] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[5] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- ARGV[1] id: text, the task's id
-- ARGV[2] ticket: int, number of the missing ticket
-- ARGV[3] tenant: text, its id
-- RETURNS {'reissued', state} | {'needless'}
-- include: body-layout
-- include: states
-- include: queues
-- include: window
local context = { tenant = ARGV[3], ready = KEYS[4] }
local task = load_state(KEYS[1], KEYS[2], ARGV[1])
if not task or task.completedAt then return { 'needless' } end
if task.status == 'running' or not task.granted or task.ticket ~= tonumber(ARGV[2]) then return { 'needless' } end
if first_ready(context, ready_prefix(context, ARGV[1], task))[1] then return { 'needless' } end
local time = redis.call('TIME')
task.ticket = task.ticket + 1
local state = cjson.encode(task)
redis.call('HSET', KEYS[1], ARGV[1], state)
redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[3] .. '/' .. ARGV[1] .. '.' .. task.ticket)
redis.call('ZADD', KEYS[5], window_score((level_number(level_prefix(task.queue, task.priority))), ARGV[3]), ARGV[3] .. '/' .. ARGV[1])
return { 'reissued', state }
