-- Gives a worker's free slots the best tasks of a shard that stand at `slot`, and starts them under leases. The keys of their tenants, which
-- have the shard's hash tag too, are known only once the tickets are.
-- KEYS[1] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[2] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[3] jobs: zset, the shard's tickets with a job in BullMQ that no worker has drawn, by queue
-- KEYS[4] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[5] weights: hash, weights of the shard's tenants in their turns
-- KEYS[6] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[7] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[8...] per queue: of the pool, BullMQ's own hash, which has its pause
-- ARGV[1] options: JSON, channel and bounds; names: how the keys of a tenant begin, before and after its id; cap: attempts of the shard at
--   once, `max` and, of these, `reserved` for critical ones, `fleetMax` in all shards, and the `key` that has its share, if any; bounded: lanes of agents by tenant that tasks may lack; apart: queues whose
--   tickets only are taken; isolation: see `claimTask`; daemon: the one that runs the given tasks; pool: see `order.lua`, with limits of
--   queues; left: slots that the worker's next call fills, where this one fills its own; idleMs: how long what is said of idle slots holds
-- ARGV[2] queues: text, of the pool, separated by commas; empty without a pool
-- ARGV[3] count: int, slots that are to get a task now
-- ARGV[4] worker: text, its name
-- ARGV[5] lease: int, ms
-- ARGV[6] given: text, tasks to start instead, `<tenant>/<task>` separated by commas; empty for the best
-- ARGV[7] drawn: text, jobs that the slots drew from BullMQ, `<tenant>/<task> <1 when it came back before, else 0>` separated by commas
-- ARGV[8...] per attempt: those that these slots have just ended
--   lease: text, its member of the leases; a slot whose attempt still has it claims nothing
-- RETURNS {drawn, closed until, tickets}: of each drawn job what becomes of it (see `settle_drawn`); `<queue>=<ms>` of each queue that starts
--   nothing until then, by its limiter; and four more per ticket: text, or `<tenant>/<task>` of a given one; state and body of its task, or
--   why it did not start (`apart`, `suspect`, `waits`, `gone`) and how many processes were lost under it; `1` where it has a job in BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: ready
-- include: turns
-- include: heads
-- include: order
-- include: take
-- include: fleet-room
-- include: begin-attempt
-- include: start-attempt
-- include: debounce
-- include: start-taken
-- include: iterate
local context = open_context(ARGV[1], '', '', '', '', KEYS[1], '')
context.ready, context.jobs, context.turns, context.weights, context.leases, context.deadlines, context.shard =
  KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], {}
context.worker, context.worker_word = ARGV[4], to_word(ARGV[4])
context.leaseEnds = string.format('%d', context.now + ARGV[5])
local pool, pauses, drawn, tickets = context.pool, {}, {}, {}

-- Slots whose attempts still run in the ledger: their settlement is to be repeated.
local function count_unsettled()
  local ended, unsettled = { unpack(ARGV, 8) }, 0
  if #ended == 0 then return 0 end
  for _, score in ipairs(redis.call('ZMSCORE', context.leases, unpack(ended))) do
    if score then unsettled = unsettled + 1 end
  end
  return unsettled
end

local function choose_tickets(count)
  while count > 0 do
    local head = choose_head(context, pool)
    if not head then return end
    for _, ticket in ipairs(take_head(context, pool, head, count)) do
      tickets[#tickets + 1] = ticket
      count = count - 1
    end
  end
end

local function note_given(member)
  local tenant, id = string.match(member, '^([^/]+)/(.+)$')
  tickets[#tickets + 1] = { name = member, tenant = tenant, id = id }
end

-- Takes the tickets of given tasks that started out of the ready ones.
local function withdraw_given()
  for _, ticket in ipairs(tickets) do
    if ticket.state then
      context.tenant = ticket.tenant
      local task = read_state_of(ticket.state, ticket.body)
      local found = find_ready(context, ticket.id, task)
      if found then redis.call('ZREM', context.ready, found) end
      redis.call('ZREM', context.outbox, ticket.tenant .. '/' .. ticket.id .. '.' .. task.ticket)
    end
  end
end

local given = {}
for member in string.gmatch(ARGV[6], '[^,]+') do given[#given + 1] = member end
for each in string.gmatch(ARGV[7], '[^,]+') do drawn[#drawn + 1] = each end
if pool then
  local next_key = iterate(KEYS, 8)
  for queue in string.gmatch(ARGV[2], '[^,]+') do pauses[queue] = next_key() end
  local has_ready = redis.call('EXISTS', context.ready) == 1
  open_pool(context, pool, pauses, has_ready)
  if has_ready then choose_tickets(ARGV[3] - count_unsettled()) end
end
for _, member in ipairs(given) do note_given(member) end
if #given == 0 or has_room_for_given(context, #given) then
  start_tickets(context, tickets)
else
  for _, ticket in ipairs(tickets) do ticket.obstacle = 'waits' end
end
if #given > 0 then withdraw_given() end

local reply, outbox, started, members = {}, {}, {}, {}
for _, ticket in ipairs(tickets) do
  local member = ticket.tenant .. '/' .. ticket.id
  started[member] = true
  if #given == 0 and not ticket.state then append(outbox, context.stamp, member .. '.' .. ticket.number) end
  members[#members + 1] = member
end
local words = pool and settle_drawn(context, pool, drawn, started) or {}
local jobs = #members > 0 and redis.call('EXISTS', context.jobs) == 1 and redis.call('ZMSCORE', context.jobs, unpack(members)) or {}
for position, ticket in ipairs(tickets) do
  local has_job = jobs[position] and '1' or ''
  append(reply, ticket.name, ticket.state or ticket.obstacle)
  append(reply, ticket.body or tostring(ticket.losses or ''), has_job)
end
if next(jobs) then redis.call('ZREM', context.jobs, unpack(members)) end
call_many('ZADD', context.outbox, outbox)
local closed = {}
if pool then
  for queue, ends in pairs(pool.closed) do
    if ends < math.huge then closed[#closed + 1] = queue .. '=' .. string.format('%d', ends) end
  end
  note_idle(context, pool, #tickets >= tonumber(ARGV[3]) and context.left or 0, context.now + context.idleMs)
end
return { table.concat(words, ','), table.concat(closed, ','), reply }
