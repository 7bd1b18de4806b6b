-- Grants tasks of a tenant that wait for its lanes and caps while these have room: limits may have grown while none of its tasks ended.
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
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- RETURNS {tickets, tasks that waited and wait no more for a lane or a cap};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: dispatch
-- include: grants
-- include: shared-lanes
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
-- Lanes that are left go on in the next call.
local MAX_FROM_LANES = 100
local promoted = promote_shared(context, lanes_with_line(context), MAX_FROM_LANES)
-- With caps, these wait in the backlog first.
local granted = #context.granted
promote_backlog(context)
return { publish_granted(context), promoted + #context.granted - granted }
