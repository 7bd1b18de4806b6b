-- Notes that the sla of a task has passed: once, and as a breach when the task had not ended by then.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] events: stream, the tenant's events
-- KEYS[4] slas: zset, slas of the shard's tasks, ms
-- ARGV[1] options: JSON, the context: tenant, channel, maxEvents and maxTimelineBytes
-- ARGV[2] id: text, the task's id
-- RETURNS {'breached', state} | {'kept'} when it ended in time or is gone | {'early'} | {'known'}
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
local context = open_context(ARGV[1], KEYS[1], '', '', KEYS[3], '', KEYS[2])
local id = ARGV[2]
local score = redis.call('ZSCORE', KEYS[4], shard_member(context, id))
if not score then return { 'known' } end
local sla = tonumber(score)
if sla > context.now then return { 'early' } end
redis.call('ZREM', KEYS[4], shard_member(context, id))
local task = load_task(context, id)
if not task or (task.completedAt and task.completedAt <= sla) then return { 'kept' } end
task.slaBreached = true
add_note(context, task, 'its sla passed')
save_task(context, id, task)
emit(context, id, 'task.sla_breached', cjson.encode({ { attempt = task.attempt } }))
return { 'breached', write_state(task) }
