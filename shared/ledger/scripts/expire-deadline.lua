-- Ends a task as stale when its deadline passed before its start; an old deadline of a started task is forgotten.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] held: who holds the task's lane, any name when it has none
-- KEYS[8] wait: who waits for it
-- KEYS[9] deadlines: the shard's deadlines
-- KEYS[10] ended: the shard's ends to tell
-- KEYS[11] due: the shard's tasks that wait for a time
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- RETURNS {granted, 'stale' | 'kept'}; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: shared-lanes
-- include: lanes
-- include: endings
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local keys = { held = KEYS[7], wait = KEYS[8], deadlines = KEYS[9], ended = KEYS[10], due = KEYS[11] }
local id = ARGV[2]
local task = load_task(book, id)
if task and not task.completedAt and task.deadline and task.deadline > book.now then return { {}, 'kept' } end
redis.call('ZREM', keys.deadlines, book.tenant .. '/' .. id)
if not task or task.completedAt or task.token > 0 then return { {}, 'kept' } end
expire(book, keys, id, task)
return { let_through(book), 'stale' }
