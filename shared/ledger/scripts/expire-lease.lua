-- Takes back an attempt whose lease ran out: the task goes back in line, or to its end after its last attempt.
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
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- ARGV[3] token: the attempt's
-- RETURNS {granted, 'requeued' | 'ended' | 'held' | 'gone'}; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: lanes
-- include: endings
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local keys = {
  held = KEYS[7], wait = KEYS[8], leases = KEYS[9], deadlines = KEYS[10], signals = KEYS[11], ended = KEYS[12], attempts = KEYS[13],
}
local id = ARGV[2]
local member = book.tenant .. '/' .. id .. '/' .. ARGV[3]
local lease = redis.call('ZSCORE', keys.leases, member)
if lease and tonumber(lease) > book.now then return { {}, 'held' } end
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

local failure = { code = 'WORKER_LOST', message = 'The worker ' .. task.worker .. ' stopped renewing its lease', retryable = true }
end_attempt(book, keys, id, task, 'failed', failure)
task.error = failure
enter(book, task, 'failed', failure.code)
emit(book, id, 'task.failed')
if task.spent < task.maxAttempts then
  -- Its ticket may never come back from the worker that is gone, so it gets another one; the first to be claimed counts.
  grant(book, id, task)
  return { let_through(book), 'requeued' }
end
task.outcome = { kind = 'ran' }
finish(book, keys, id, task, 'permanently_failed')
emit(book, id, 'task.permanently_failed')
return { let_through(book), 'ended' }
