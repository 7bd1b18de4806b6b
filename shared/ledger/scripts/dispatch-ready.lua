-- Lets ready tickets of a shard out into the windows, which may have grown while nothing was claimed.
-- KEYS[1] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[2] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[3] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[4] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[5] weights: hash, weights of the shard's tenants in their turns
-- ARGV[1] options: JSON, windows (by queue) and lookAhead, and perhaps max: tickets of one level; only: queue
-- RETURNS tickets: entry in the outbox and text of each
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: levels
-- include: tickets
-- include: dispatch
local context = open_context(ARGV[1], '', '', '', '', KEYS[1], '')
open_dispatch(context, KEYS[2], KEYS[3], KEYS[4], KEYS[5])
-- For slots that are idle: they wait for BullMQ.
context.direct = nil
dispatch(context)
return close_dispatch(context)
