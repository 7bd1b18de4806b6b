-- Holds a granted task that no worker has claimed, because nothing can run it now. It keeps its own lane and spends no attempt.
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
-- KEYS[11] due: zset, tasks of the shard that wait for a time, ms
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the task's id
-- ARGV[3] hold: JSON, its gate and what of it
-- ARGV[4] until: int, ms when the hold ends in any case, 0 for no end
-- ARGV[5] entry: text, of its ticket in the outbox when a slot took it from the ready ones, else empty
-- ARGV[6] notice: JSON, event, and facts of what it waits for; published once while they stay the same; or empty
-- RETURNS tickets, and 'held' | 'notified', with the notice | 'gone': it is not granted, or runs, or has ended;
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
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[11]
local id, due_at = ARGV[2], tonumber(ARGV[4])
local task = load_task(context, id)
if ARGV[5] ~= '' then redis.call('ZREM', context.outbox, ARGV[5]) end
local waits = task and (task.status == 'queued' or task.status == 'failed' or task.status == 'timeout')
if not waits or not task.granted then return { {}, 'gone' } end

local is_new = ARGV[6] ~= '' and task.notice ~= ARGV[6]
gates.give_up(context, id, task)
-- Its retry has no delay.
if task.status ~= 'queued' then enter(context, task, 'queued') end
task.hold, task.notBefore = cjson.decode(ARGV[3]), due_at > 0 and due_at or nil
if is_new then
  local notice = cjson.decode(ARGV[6])
  task.notice = ARGV[6]
  add_note(context, task, notice.facts.detail)
  emit(context, id, notice.event, cjson.encode({ notice.facts }))
end
gates.wait_at(context, id, task, HOLD)
save_task(context, id, task)
return { publish_granted(context), is_new and 'notified' or 'held' }
