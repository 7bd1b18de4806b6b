-- Grants tasks of a tenant's backlog while the caps have room: the caps may have grown while none of its tasks ended.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- RETURNS {granted, count}; granted: id, state and body, or empty, of each other task granted
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
-- include: grants
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
promote_backlog(context)
return { publish_granted(context), #context.granted / 3 }
