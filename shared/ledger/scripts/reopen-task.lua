-- Reopens a permanently failed task: it has a new set of attempts, whose numbers follow the old ones, and waits for its lane and caps.
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
-- KEYS[13] attempts: hash, attempts of the tenant that others followed by `<id>:<token>`, JSON
-- KEYS[14] journal: hash, entries of the task's journal
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the task's id
-- ARGV[3] action: text, id of the action that does it, which reopens a task once, or empty
-- RETURNS {tickets, 'reopened' | 'refused' | 'repeated' | 'archived', status} | {tickets, 'unknown'}; archived: its parts are to be restored first;
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: archived
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
local id = ARGV[2]
local task = load_task(context, id)
if not task then return { {}, 'unknown' } end
if ARGV[3] ~= '' and task.retriedBy == ARGV[3] then return { {}, 'repeated', task.status } end
if task.status ~= 'permanently_failed' then return { {}, 'refused', task.status } end
if archived_at(redis.call('HGET', KEYS[6], id)) then return { {}, 'archived', task.status } end

redis.call('ZREM', context.index, 'status=' .. task.status .. '/' .. id, end_member(task, task.status, id))
-- The last attempt is in the state only, as long as no other follows. A failed attempt left no output.
redis.call('HSETNX', KEYS[13], id .. ':' .. task.token, cjson.encode({
  number = task.attempt, worker = task.worker, startedAt = task.startedAt, endedAt = task.completedAt, error = task.error,
  usage = task.attemptUsage or task.token == 1 and task.usage or nil, model = task.attemptModel, notes = task.attemptNotes,
  status = string.match(task.log, '(timeout)@[^;]*;permanently_failed@[^;]*$') or 'failed',
}))
-- It could only come to the same mismatch, and starts again.
if task.error and task.error.code == 'JOURNAL_MISMATCH' then
  redis.call('DEL', KEYS[14])
  task.version, task.journaled = nil, nil
end
task.completedAt, task.outcome, task.error, task.queuedAt = nil, nil, nil, nil
task.spent, task.earlier, task.interruptions = 0, task.attempt, nil
-- Its next losses with a daemon cost nothing again. Those before stay apart from its interruptions.
if task.daemonLosses then task.holds, task.daemonLosses = (task.holds or 0) + task.daemonLosses, nil end
if ARGV[3] ~= '' then task.retriedBy = ARGV[3] end
-- A task that ended processes before runs isolated from its first attempt on.
if task.losses then task.losses = math.min(task.losses, 2) end
emit(context, id, enter(context, task, 'pending', ARGV[3] == '' and 'retried by hand' or 'retried by action ' .. ARGV[3]))
if gates.enter(context, { held = KEYS[11], wait = KEYS[12] }, id, task) then
  grant(context, id, task)
else
  save_task(context, id, task)
end
return { publish_granted(context), 'reopened', task.status }
