-- Lets ready tickets of a shard out: into the windows, which may have grown while nothing was claimed, or to slots that are free now.
-- KEYS[1] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[2] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[3] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[4] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[5] weights: hash, weights of the shard's tenants in their turns
-- KEYS[6...] per queue: of slots, BullMQ's hash that has its pause
-- ARGV[1] options: JSON, windows (by queue) and lookAhead, and perhaps max: tickets of one level
-- ARGV[2] queue: text, of the slots, or empty for the windows
-- ARGV[3] count: int, slots
-- RETURNS tickets, and for slots 1 when more are ready behind a ticket of the window, else 0;
--   tickets: entry in the outbox and text of each; those for slots have an entry each, until they are claimed
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: levels
-- include: tickets
-- include: dispatch
-- include: free-slots
-- include: iterate
local context = open_context(ARGV[1], '', '', '', '', KEYS[1], '')
open_dispatch(context, KEYS[2], KEYS[3], KEYS[4], KEYS[5])
-- For slots that are idle: they wait for BullMQ.
context.direct = nil
local next_key, is_outranked = iterate(KEYS, 6), 0
if ARGV[2] == '' then
  dispatch(context)
else
  is_outranked = take_for_slots(context, ARGV[2], tonumber(ARGV[3]), next_key())
end
return { close_dispatch(context), is_outranked }
