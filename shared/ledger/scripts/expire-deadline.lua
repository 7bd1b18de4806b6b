-- Ends a task as stale when its deadline passed before its start. The deadline of a task that has started is removed.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] held: zset, holders of the task's lane by ms, any name when it has none
-- KEYS[8] wait: zset, line of that lane by slot
-- KEYS[9] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[10] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[11] due: zset, tasks of the shard that wait for a time, ms
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the task's id
-- RETURNS {granted, 'stale' | 'kept'}; granted: id, state and body, or empty, of each other task granted
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
-- include: grants
-- include: shared-lanes
-- include: lanes
-- include: finish
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local keys = { held = KEYS[7], wait = KEYS[8], deadlines = KEYS[9], ended = KEYS[10], due = KEYS[11] }
local id = ARGV[2]
local task = load_task(context, id)
if task and not task.completedAt and task.deadline and task.deadline > context.now then return { {}, 'kept' } end
redis.call('ZREM', keys.deadlines, shard_member(context, id))
if not task or task.completedAt or task.token > 0 then return { {}, 'kept' } end
expire(context, keys, id, task)
return { publish_granted(context), 'stale' }
