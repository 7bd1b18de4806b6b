-- Takes back an attempt that was lost with its process. All tasks that ran there are suspects: until it is known which one ended
-- the process, none is charged an attempt, and each returns after a while, isolated. The guilty one is charged, and fails for good
-- after its last attempt or after so many losses.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[8] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[9] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[10] weights: hash, weights of the shard's tenants in their turns
-- KEYS[11] held: zset, holders of the task's lane by ms, any name when it has none
-- KEYS[12] wait: zset, line of that lane by slot
-- KEYS[13] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[14] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[15] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[16] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[17] attempts: hash, attempts of the tenant that others followed by `<id>:<token>`, JSON
-- KEYS[18] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[19] usage_day: hash, what the tenant's agents used this day by row
-- KEYS[20] running_usage: hash, what running attempts of the tenant have used by `<id>:<token>`, JSON
-- KEYS[21] failing: hash, failures of the tenant's agents in a row, JSON
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the task's id
-- ARGV[3] token: int, the attempt's fencing token
-- ARGV[4] loss: JSON, blame (`unknown`, `guilty`, `cleared`), maxLosses, delayMs (before the first return), maxDelayMs, spread (0 to 1), isGone
--   (the process has ended, whatever the lease says), isOwnEnd (it ended, or hung, by what ran in it), message, and route when the agent has one:
--   `stop` (it fails for good) or `wait` (no loss is charged)
-- RETURNS {tickets, 'requeued' | 'ended' | 'held' | 'gone'};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: levels
-- include: tickets
-- include: dispatch
-- include: grants
-- include: lane-limits
-- include: shared-lanes
-- include: lanes
-- include: count-usage
-- include: attempt-usage
-- include: finish
-- include: failures
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local keys = {
  held = KEYS[11], wait = KEYS[12], leases = KEYS[13], deadlines = KEYS[14], signals = KEYS[15], ended = KEYS[16], attempts = KEYS[17],
  due = KEYS[18], usage_day = KEYS[19], running_usage = KEYS[20],
}
local id, loss = ARGV[2], cjson.decode(ARGV[4])
local member = shard_member(context, id) .. '/' .. ARGV[3]
local lease = redis.call('ZSCORE', keys.leases, member)
if not loss.isGone and lease and tonumber(lease) > context.now then return { {}, 'held' } end
local task = load_task(context, id)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then
  redis.call('ZREM', keys.leases, member)
  redis.call('HDEL', keys.signals, member)
  return { {}, 'gone' }
end

-- As far as its process reported it.
local usage = take_lost_usage(keys, id .. ':' .. ARGV[3], task, context.usage)
task.attemptUsage, task.attemptModel, task.attemptNotes = nil, nil, nil

if task.cancel then
  local reason = task.cancel.reason
  end_attempt(context, keys, id, task, { status = 'cancelled', usage = usage })
  task.outcome = outcome_of_stop(task.cancel)
  emit(context, id, finish(context, keys, id, task, 'cancelled', reason))
  return { publish_granted(context), 'ended' }
end

local message = loss.message or ('The worker ' .. task.worker .. ' stopped renewing its lease')
local stops = loss.route == 'stop'
local failure = { code = 'WORKER_LOST', message = message, retryable = not stops }
local losses = (task.losses or 0) + (loss.blame == 'cleared' and 0 or 1)
if losses > 0 then task.losses = losses end
-- A process may go down with its machine; that happens, but not again and again.
local is_own = task.isolation == 'own' and (loss.isOwnEnd or losses >= 2 * loss.maxLosses)
local is_guilty = loss.blame == 'guilty' or (loss.blame == 'unknown' and is_own)
-- The bound on losses holds whatever the agent says: a task that ends worker after worker stops.
local is_charged = stops or is_guilty and (loss.route ~= 'wait' or losses >= loss.maxLosses)
task.isolation = nil
end_attempt(context, keys, id, task, { status = is_charged and 'failed' or 'interrupted', failure = failure, usage = usage })
task.error = failure
local function facts_of(will_retry)
  return cjson.encode({ { attempt = task.attempt, code = failure.code, willRetry = will_retry } })
end
-- Twice as long after each loss, and spread over as much again, so that tasks lost together return apart. Never over maxDelayMs.
local delay = math.min(loss.delayMs * 2 ^ math.min(losses - 1, 20), loss.maxDelayMs / 2)
local return_at = context.now + math.floor(delay * (1 + loss.spread))

if not is_charged then
  task.spent = task.spent - 1
  local event = enter(context, task, 'queued', 'lost with the worker ' .. task.worker .. ', which costs no attempt')
  emit(context, id, event, facts_of(true))
  -- Its ticket may never come back from the worker that is gone, so it gets another one; the first to be claimed counts.
  if loss.blame == 'cleared' then grant(context, id, task) else park_until(context, keys.due, id, task, 'suspect', return_at) end
  promote_backlog(context)
  return { publish_granted(context), 'requeued' }
end

local event = enter(context, task, 'failed', failure.code)
local will_retry = not stops and task.spent < task.maxAttempts and losses < loss.maxLosses
emit(context, id, event, facts_of(will_retry))
if will_retry then
  park_until(context, keys.due, id, task, 'suspect', return_at)
  promote_backlog(context)
  return { publish_granted(context), 'requeued' }
end
task.outcome = { kind = 'ran' }
emit(context, id, finish(context, keys, id, task, 'permanently_failed'), facts_of(false))
count_failures(context, KEYS[21], { { id = id, agent = task.agent, code = failure.code } })
return { publish_granted(context), 'ended' }
