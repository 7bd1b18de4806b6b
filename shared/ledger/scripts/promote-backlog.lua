-- Lets through what waits for the caps of a tenant while they have room: they may have grown while nothing of the tenant ended.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- RETURNS {granted, count}; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
promote_backlog(book)
return { let_through(book), #book.granted / 3 }
