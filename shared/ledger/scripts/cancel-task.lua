-- Stops a task: at once when it does not run, else by a signal to its worker and a lease that ends after the grace.
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
-- KEYS[13] due: the shard's tasks that wait for a time
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- ARGV[3] reason: why, for people
-- ARGV[4] grace: ms between the signal and taking the lease away
-- RETURNS {granted, 'cancelled'} | {granted, 'stopping', member} | {granted, 'ended', status} | {granted, 'unknown'};
--   granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: shared-lanes
-- include: lanes
-- include: endings
-- include: stops
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local keys = {
  held = KEYS[7], wait = KEYS[8], leases = KEYS[9], deadlines = KEYS[10], signals = KEYS[11], ended = KEYS[12],
  due = KEYS[13],
}
local id = ARGV[2]
local task = load_task(book, id)
if not task then return { {}, 'unknown' } end
if task.completedAt then return { {}, 'ended', task.status } end

if task.status ~= 'running' then
  task.outcome = { kind = 'cancelled', reason = ARGV[3] }
  finish(book, keys, id, task, 'cancelled', ARGV[3])
  emit(book, id, 'task.cancelled')
  return { let_through(book), 'cancelled' }
end

return { {}, 'stopping', stop_running(book, keys, id, task, { at = book.now, reason = ARGV[3] }, ARGV[4]) }
