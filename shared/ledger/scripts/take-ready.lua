-- Takes ready tickets of a shard for slots that are free now, and claims their tasks where nothing but their turn can hold them back. The
-- keys of their tenants, which have the shard's hash tag too, are known only once the tickets are.
-- KEYS[1] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[2] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[3] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[4] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[5] weights: hash, weights of the shard's tenants in their turns
-- KEYS[6] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[7] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[8] pauses: hash, BullMQ's own of the queue
-- ARGV[1] options: JSON, windows (by queue), lookAhead, channel and bounds, and names: how the keys of a tenant begin, before and after its
--   id; bounded: tenants whose agents may have gained a bound since their tasks were accepted
-- ARGV[2] queue: text, of the slots
-- ARGV[3] count: int, slots
-- ARGV[4] worker: text, its name, or empty when nothing is to be claimed
-- ARGV[5] lease: int, ms
-- ARGV[6...] per attempt: those that these slots have just ended
--   lease: text, its member of the leases; a slot whose attempt still has it claims nothing
-- RETURNS 1 when more are ready behind a ticket of the window, else 0, and three more per ticket: text, and state and body of its task when
--   that was claimed, else empty texts; the others are in the outbox, each under an entry of its own
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: levels
-- include: tickets
-- include: dispatch
-- include: free-slots
-- include: start-attempt
-- include: claim-taken
local context = open_context(ARGV[1], '', '', '', '', KEYS[1], '')
open_dispatch(context, KEYS[2], KEYS[3], KEYS[4], KEYS[5])
context.leases, context.deadlines = KEYS[6], KEYS[7]
local count, worker, tickets = tonumber(ARGV[3]), ARGV[4], {}

-- Slots whose attempts still run in the ledger: their settlement is to be repeated.
local function count_unsettled()
  local ended, unsettled = { unpack(ARGV, 6) }, 0
  if #ended == 0 then return 0 end
  for _, score in ipairs(redis.call('ZMSCORE', context.leases, unpack(ended))) do
    if score then unsettled = unsettled + 1 end
  end
  return unsettled
end

local is_outranked = take_for_slots(context, ARGV[2], count, KEYS[8], function(tenant, text)
  local id, number = string.match(text, '^[^/]+/%d+/[^/]+/%d+/([^/.]+)%.(%d+)/')
  tickets[#tickets + 1] = { text = text, tenant = tenant, id = id, number = tonumber(number) }
end)
if worker ~= '' and #tickets > 0 then
  context.leaseEnds = context.now + ARGV[5]
  claim_taken(context, tickets, worker, count - count_unsettled())
end
local reply, outbox = { is_outranked }, {}
for _, ticket in ipairs(tickets) do
  append(reply, ticket.text, ticket.state or '')
  reply[#reply + 1] = ticket.body or ''
  if not ticket.state then append(outbox, context.now, ticket.tenant .. '/' .. ticket.id .. '.' .. ticket.number) end
end
call_many('ZADD', context.outbox, outbox)
return reply
