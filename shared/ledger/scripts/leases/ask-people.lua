-- Opens a question of a run that goes on running. Repeated, it changes nothing.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] events: stream, the tenant's events
-- KEYS[4] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[5] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[6] waits: zset, runs of the shard whose wait nobody has seen to, by ms
-- KEYS[7] journal: hash, entries of the task's journal by number, JSON; `last`: JSON of the one that began last
-- ARGV[1] options: JSON, the context: tenant, channel, maxEvents and maxTimelineBytes
-- ARGV[2] id: text, the task's id
-- ARGV[3] token: int, the attempt's fencing token
-- ARGV[4] entry: int, the number of the question's entry
-- ARGV[5] text: JSON, the entry
-- ARGV[6] question: text, the question's id
-- RETURNS {'asked', state} | {'lost'}: the attempt is over
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
local context = open_context(ARGV[1], KEYS[1], KEYS[2], '', KEYS[3], '', KEYS[4])
local id, entry, question = ARGV[2], tonumber(ARGV[4]), ARGV[6]
local text = redis.call('HGET', KEYS[1], id)
local task = text and read_state(text, context.bodies, id)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then return { 'lost' } end
if not redis.call('ZSCORE', KEYS[5], shard_member(context, id) .. '/' .. ARGV[3]) then return { 'lost' } end
-- It was asked, and may have been answered since.
if redis.call('HSETNX', KEYS[7], ARGV[4], ARGV[5]) == 0 then return { 'asked', text } end
redis.call('HSET', KEYS[7], 'last', ARGV[5])
if task.asking then close_question(context, id, task) end
task.asking = { entry = entry, question = question }
redis.call('ZADD', context.live, '0', asking_member(question, id))
redis.call('ZADD', KEYS[6], context.stamp, shard_member(context, id) .. '/' .. entry)
local state = write_state(task)
redis.call('HSET', KEYS[1], id, state)
emit(context, id, 'task.asked', cjson.encode({ { hold = { gate = 'question', what = question } } }))
return { 'asked', state }
