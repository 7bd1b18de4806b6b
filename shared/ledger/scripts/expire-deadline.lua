-- Ends a task as stale when its deadline passed before its start, and a suspended run as failed. The deadline of another that has started is removed.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[8] jobs: zset, the shard's tickets with a job in BullMQ that no worker has drawn, by queue
-- KEYS[9] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[10] weights: hash, weights of the shard's tenants in their turns
-- KEYS[11] held: zset, holders of the task's lane by ms, any name when it has none
-- KEYS[12] wait: zset, line of that lane by slot
-- KEYS[13] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[14] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[15] due: zset, tasks of the shard that wait for a time, ms
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the task's id
-- RETURNS {tickets, 'stale' | 'failed' | 'kept'};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: ready
-- include: turns
-- include: tickets
-- include: grants
-- include: lane-limits
-- include: gates
-- include: lanes
-- include: finish
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[15]
local keys = { held = KEYS[11], wait = KEYS[12], deadlines = KEYS[13], ended = KEYS[14] }
local id = ARGV[2]
local task = load_task(context, id)
if task and not task.completedAt and task.deadline and task.deadline > context.now then return { {}, 'kept' } end
redis.call('ZREM', keys.deadlines, shard_member(context, id))
if task and task.status == 'suspended' then
  local reason = 'the deadline passed while its run waited'
  task.error = { code = 'DEADLINE_PASSED', message = reason, retryable = false }
  task.outcome = { kind = 'expired', reason = reason }
  emit(context, id, finish(context, keys, id, task, 'permanently_failed', reason))
  return { publish_granted(context), 'failed' }
end
local may_expire = task and not task.completedAt and (task.token == 0 or task.hold and task.spent == 0)
if not may_expire then return { {}, 'kept' } end
expire(context, keys, id, task)
return { publish_granted(context), 'stale' }
