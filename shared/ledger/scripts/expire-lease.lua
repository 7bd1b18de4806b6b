-- Takes back an attempt that was lost with its process. Whatever ran there is under suspicion together: until it is known which one
-- ended the process, none is charged an attempt, and each comes back after a while, isolated. The guilty one is charged, and goes to its
-- end after its last attempt or after so many losses.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] held: who holds the task's lane, any name when it has none
-- KEYS[8] wait: who waits for it
-- KEYS[9] leases: the shard's running attempts
-- KEYS[10] deadlines: the shard's deadlines
-- KEYS[11] signals: the shard's unanswered stops
-- KEYS[12] ended: the shard's ends to tell
-- KEYS[13] attempts: the tenant's attempts that others followed
-- KEYS[14] due: the shard's tasks that wait for a time
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- ARGV[3] token: the attempt's
-- ARGV[4] loss: JSON of blame (`unknown`, `guilty`, `cleared`), maxLosses, delayMs (before the first return), maxDelayMs, spread (0 to 1),
--   isGone (the process has ended, whatever the lease says), isOwnEnd (it
--   ended, or got stuck, by what ran in it), message
-- RETURNS {granted, 'requeued' | 'ended' | 'held' | 'gone'}; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: due
-- include: shared-lanes
-- include: lanes
-- include: endings
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local keys = {
  held = KEYS[7], wait = KEYS[8], leases = KEYS[9], deadlines = KEYS[10], signals = KEYS[11], ended = KEYS[12], attempts = KEYS[13],
  due = KEYS[14],
}
local id, loss = ARGV[2], cjson.decode(ARGV[4])
local member = book.tenant .. '/' .. id .. '/' .. ARGV[3]
local lease = redis.call('ZSCORE', keys.leases, member)
if not loss.isGone and lease and tonumber(lease) > book.now then return { {}, 'held' } end
local task = load_task(book, id)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then
  redis.call('ZREM', keys.leases, member)
  redis.call('HDEL', keys.signals, member)
  return { {}, 'gone' }
end

if task.cancel then
  local reason = task.cancel.reason
  end_attempt(book, keys, id, task, 'cancelled')
  task.outcome = outcome_of_stop(task.cancel)
  finish(book, keys, id, task, 'cancelled', reason)
  emit(book, id, 'task.cancelled')
  return { let_through(book), 'ended' }
end

local message = loss.message or ('The worker ' .. task.worker .. ' stopped renewing its lease')
local failure = { code = 'WORKER_LOST', message = message, retryable = true }
local losses = (task.losses or 0) + (loss.blame == 'cleared' and 0 or 1)
if losses > 0 then task.losses = losses end
-- A process may go down with its machine; that happens, but not again and again.
local is_own = task.isolation == 'own' and (loss.isOwnEnd or losses >= 2 * loss.maxLosses)
local is_guilty = loss.blame == 'guilty' or (loss.blame == 'unknown' and is_own)
task.isolation = nil
end_attempt(book, keys, id, task, is_guilty and 'failed' or 'interrupted', failure)
task.error = failure
local function facts_of(will_retry)
  return cjson.encode({ { attempt = task.attempt, code = failure.code, willRetry = will_retry } })
end
-- Twice as long after each loss, and spread, so that what was lost together comes back apart.
local return_at = book.now + math.floor(math.min(loss.delayMs * 2 ^ math.min(losses - 1, 20), loss.maxDelayMs) * (1 + loss.spread))

if not is_guilty then
  task.spent = task.spent - 1
  enter(book, task, 'queued', 'lost with the worker ' .. task.worker .. ', at the price of no attempt')
  emit(book, id, 'task.interrupted', facts_of(true))
  -- Its ticket may never come back from the worker that is gone, so it gets another one; the first to be claimed counts.
  if loss.blame == 'cleared' then grant(book, id, task) else put_off(book, keys.due, id, task, 'suspect', return_at) end
  promote_backlog(book)
  return { let_through(book), 'requeued' }
end

enter(book, task, 'failed', failure.code)
local will_retry = task.spent < task.maxAttempts and losses < loss.maxLosses
emit(book, id, 'task.failed', facts_of(will_retry))
if will_retry then
  put_off(book, keys.due, id, task, 'suspect', return_at)
  promote_backlog(book)
  return { let_through(book), 'requeued' }
end
task.outcome = { kind = 'ran' }
finish(book, keys, id, task, 'permanently_failed')
emit(book, id, 'task.permanently_failed', facts_of(false))
return { let_through(book), 'ended' }
