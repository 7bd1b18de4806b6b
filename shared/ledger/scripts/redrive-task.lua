-- Opens a permanently failed task again: all its attempts anew, under the numbers that follow, its lane and caps like any other's.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] held: who holds the task's lane, any name when it has none
-- KEYS[8] wait: who waits for it
-- KEYS[9] attempts: the tenant's attempts that others followed
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- RETURNS {granted, 'reopened' | 'refused', status} | {granted, 'unknown'}; granted: its id, state and an empty body when it may run now
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: shared-lanes
-- include: lanes
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local id = ARGV[2]
local task = load_task(book, id)
if not task then return { {}, 'unknown' } end
if task.status ~= 'permanently_failed' then return { {}, 'refused', task.status } end

redis.call('ZREM', book.index, 'status=' .. task.status .. '/' .. id)
-- The last attempt is in the state only, as long as no other follows. One that failed left no output.
redis.call('HSETNX', KEYS[9], id .. ':' .. task.token, cjson.encode({
  number = task.attempt, worker = task.worker, startedAt = task.startedAt, endedAt = task.completedAt, error = task.error,
  status = string.match(task.log, '(timeout)@[^;]*;permanently_failed@[^;]*$') or 'failed',
}))
task.completedAt, task.outcome, task.error, task.queuedAt = nil, nil, nil, nil
task.spent, task.earlier = 0, task.attempt
-- What ended processes before is run apart from the first attempt on.
if task.losses then task.losses = math.min(task.losses, 2) end
enter(book, task, 'pending', 'retried by hand')
emit(book, id, 'task.reopened')
if join_lane(book, KEYS[7], KEYS[8], id, task) then
  grant_or_backlog(book, id, task)
else
  redis.call('ZADD', book.live, 0, 'pending/' .. id)
  save_task(book, id, task)
end
return { let_through(book), 'reopened', task.status }
