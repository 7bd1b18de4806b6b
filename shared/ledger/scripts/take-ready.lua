-- Takes ready tickets of a shard for slots that are free now, and claims their tasks where nothing but their turn can hold them back. The
-- keys of their tenants, which have the shard's hash tag too, are known only once the tickets are.
-- KEYS[1] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[2] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[3] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[4] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[5] weights: hash, weights of the shard's tenants in their turns
-- KEYS[6] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[7] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[8...] per queue: BullMQ's own hash, which has its pause
-- ARGV[1] options: JSON, windows (by queue), lookAhead, channel and bounds; names: how the keys of a tenant begin, before and after its id;
--   bounded: tenants whose agents may have gained a bound since their tasks were accepted; unclaimed: queues whose tasks are claimed later;
--   pool: what else runs in slots that several queues share, without these slots: kind of its permits, queues (weight and running of each),
--   bands (share and running), fetching, idle (slots that get tickets from BullMQ), maxLow, highFrom, lowTo (priorities), lowAgeMs
-- ARGV[2] queues: text, of the slots, separated by commas; one without a pool
-- ARGV[3] count: int, slots
-- ARGV[4] worker: text, its name, or empty when nothing is to be claimed
-- ARGV[5] lease: int, ms
-- ARGV[6...] per attempt: those that these slots have just ended
--   lease: text, its member of the leases; a slot whose attempt still has it claims nothing
-- RETURNS the queue whose next ticket goes first and is in BullMQ, else an empty text, and three more per ticket: text, and state and body of
--   its task when that was claimed, else empty texts; the others are in the outbox, each under an entry of its own
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
-- include: begin-attempt
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

local function note_ticket(tenant, text)
  local id, number = string.match(text, '^[^/]+/%d+/[^/]+/%d+/([^/.]+)%.(%d+)/')
  tickets[#tickets + 1] = { text = text, tenant = tenant, id = id, number = tonumber(number) }
end

local queues, pauses = {}, { unpack(KEYS, 8) }
for queue in string.gmatch(ARGV[2], '[^,]+') do queues[#queues + 1] = queue end
local outranked_by
if context.pool then
  outranked_by = take_for_pool(context, context.pool, queues, pauses, count, note_ticket)
else
  outranked_by = take_for_slots(context, queues[1], pauses[1], count, note_ticket)
end
if worker ~= '' and #tickets > 0 then
  context.leaseEnds = string.format('%d', context.now + ARGV[5])
  claim_taken(context, tickets, worker, count - count_unsettled())
end
local reply, outbox = { outranked_by or '' }, {}
for _, ticket in ipairs(tickets) do
  append(reply, ticket.text, ticket.state or '')
  reply[#reply + 1] = ticket.body or ''
  if not ticket.state then append(outbox, context.stamp, ticket.tenant .. '/' .. ticket.id .. '.' .. ticket.number) end
end
call_many('ZADD', context.outbox, outbox)
return reply
