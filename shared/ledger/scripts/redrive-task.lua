-- Opens a permanently failed task again: all its attempts anew, its lane and caps like any other's.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] record: the task's
-- KEYS[7] held: who holds the task's lane, any name when it has none
-- KEYS[8] wait: who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- RETURNS {granted, 'reopened' | 'refused', status} | {granted, 'unknown'}; granted: its id and state when it may run now
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local id = ARGV[2]
local task = load_task(book, KEYS[6], id)
if not task then return { {}, 'unknown' } end
if task.status ~= 'permanently_failed' then return { {}, 'refused', task.status } end

redis.call('ZREM', book.index, 'status=' .. task.status .. '/' .. id)
redis.call('HDEL', KEYS[6], 'state', 'output', 'result')
-- The last attempt is in the state only, as long as no other follows.
redis.call('HSETNX', KEYS[6], 'attempt:' .. task.token, cjson.encode({
  number = task.attempt, worker = task.worker, startedAt = task.startedAt, endedAt = task.completedAt, error = task.error,
  status = string.match(task.log, '(timeout)@[^;]*;permanently_failed@[^;]*$') or 'failed',
}))
task.completedAt, task.outcome, task.error, task.spent, task.queuedAt = nil, nil, nil, 0, nil
enter(book, task, 'pending', 'retried by hand')
emit(book, id, 'task.reopened')
if join_lane(book, KEYS[7], KEYS[8], id, task) then
  grant_or_backlog(book, id, task)
else
  redis.call('ZADD', book.states, 0, 'pending/' .. id)
  park(book, KEYS[6], id, task)
end
return { let_through(book), 'reopened', task.status }
