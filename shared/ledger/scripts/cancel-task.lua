-- Cancels a task: at once when it does not run, else by a signal to its worker and a lease that ends after the grace. When it has sub-tasks,
-- its cancel stays open until they are cancelled too, so that a process that dies before leaves them to another.
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
-- KEYS[13] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[14] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[15] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[16] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[17] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[18] open: zset, the shard's cancels that are to reach sub-tasks, by ms
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the task's id
-- ARGV[3] reason: text, for people
-- ARGV[4] grace: int, ms between the signal and the end of the lease
-- ARGV[5] root_reason: text, why the task was cancelled that it descends from, or the same
-- ARGV[6] below: `1` below a cancelled task: then a task that ended otherwise passes the cancel on; or empty
-- RETURNS {tickets, open, 'cancelled'} | {tickets, open, 'stopping', lease member} | {tickets, open, 'ended', status} | {tickets, open, 'unknown'};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ; open: 1 when sub-tasks are to be cancelled, else 0
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
-- include: open-cancels
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[17]
local keys = {
  held = KEYS[11], wait = KEYS[12], leases = KEYS[13], deadlines = KEYS[14], signals = KEYS[15], ended = KEYS[16],
}
local id = ARGV[2]
local task = load_task(context, id)
if not task then return { {}, 0, 'unknown' } end

local function keep_open() return keep_cancel_open(context, KEYS[18], id, ARGV[5]) and 1 or 0 end

if task.completedAt then
  local passes_on = task.status == 'cancelled' or ARGV[6] == '1'
  return { {}, passes_on and keep_open() or 0, 'ended', task.status }
end

if task.status ~= 'running' then
  task.outcome = { kind = 'cancelled', reason = ARGV[3] }
  emit(context, id, finish(context, keys, id, task, 'cancelled', ARGV[3]))
  return { publish_granted(context), keep_open(), 'cancelled' }
end

local member = stop_running(context, keys, id, task, { at = context.now, reason = ARGV[3] }, ARGV[4])
return { {}, keep_open(), 'stopping', member }
