-- Settles attempts of one tenant, each if its task is still as the worker saw it, and moves the tasks on: to an end, to a retry, or
-- back to the queue. The caller has decided what each task becomes; the script compares and commits.
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
-- KEYS[11] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[12] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[13] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[14] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[15] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[16] attempts: hash, attempts of the tenant that others followed by `<id>:<token>`, JSON
-- KEYS[17] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[18] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[19] usage_day: hash, what the tenant's agents used this day by row
-- KEYS[20] running_usage: hash, what running attempts of the tenant have used by `<id>:<token>`, JSON
-- KEYS[21] failing: hash, failures of the tenant's agents in a row, JSON
-- KEYS[22...] per task: with a lane, its holders and its line
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, and perhaps slots: how many take a ready ticket of each queue right
--   behind this call, `all` in all
-- ARGV[2] ids: text, of the tasks, separated by commas
-- ARGV[3...] per task: one settlement
--   token: int, the attempt's fencing token
--   limit: int, tasks that its lane holds at once, or empty without a lane
--   class: text, its class for caps
--   seen: state, as the worker saw it
--   next: state that follows
--   status: text, status of that
--   continuation: `end`, `now`, `again` (now, under a new ticket), `later`, `yield` (later, and others of its lane may go first), `hold` (until it is released, or due),
--     `backlog` or `lanes` (it made room for a critical task, there)
--   at: int, its next ticket for `now`, the due time in ms for `later`, `yield` and perhaps `hold`, else empty
--   level: text, `<queue>/<rank>/` for `now`, else empty
--   subscribers: text, `<kind>/<ended at, ms>` separated by commas, or empty
--   events: text, types separated by commas
--   fact: JSON, what the events say besides, or empty
--   attempt: JSON, when others may follow, or empty
--   output: text, of a completed task
--   result: JSON, or empty
--   shared: JSON, its sharedLanes, or empty without such lanes
--   has_deadline: `1`, or empty
--   usage: JSON, rows that the attempt adds to the day's, or empty when it used nothing
--   end_lookup: text, the lookup of its end, or empty when it goes on
--   agent: text, its agent when it completed, with ` <code>` when it failed for good, else empty
--   expired: JSON, of an attempt that another process takes back: isGone (its process has ended, whatever the lease says), and reported (what
--     it had used by its last report, as that was read); else empty
-- RETURNS tickets, and three more per attempt that was not settled: its position in the call, and 'changed', state | 'lost', ''
--   | 'held', '' (its lease stands) | 'failed', reason;
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ; and 0, 'kept', '' where some are left to these slots
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
-- include: grants
-- include: lane-limits
-- include: shared-lanes
-- include: lanes
-- include: preemption
-- include: iterate
-- include: count-usage
-- include: failures
-- include: batch
-- include: continue
-- include: leave-lanes
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local batch = open_batch({
  leases = KEYS[11], signals = KEYS[12], ended = KEYS[13], outputs = KEYS[14], results = KEYS[15], deadlines = KEYS[17], due = KEYS[18],
  usage_day = KEYS[19], running_usage = KEYS[20], failing = KEYS[21],
})
local next_key, next_arg = iterate(KEYS, 22), iterate(ARGV, 3)
gather_grants(context)

local function read_settlement(id)
  local token, limit, class, seen, next_state, status, continuation, at, level, subscribers = next_arg(10)
  local events, fact, attempt, output, result, shared, has_deadline, usage, end_lookup, agent, expired = next_arg(11)
  local settlement = {
    id = id, token = token, limit = tonumber(limit), class = class, seen = seen, next = next_state, status = status, continuation = continuation,
    at = at, level = level, subscribers = subscribers, events = events, fact = fact, attempt = attempt, output = output, result = result,
    shared = shared, has_deadline = has_deadline ~= '', usage = usage, end_lookup = end_lookup, agent = agent,
    expired = expired ~= '' and cjson.decode(expired),
  }
  if settlement.limit then settlement.held, settlement.wait = next_key(), next_key() end
  return settlement
end

-- Why an attempt is not taken back from its worker now, or nil: its lease was renewed, or it has used more than the caller read.
local function find_life(settlement, state)
  local lease = redis.call('ZSCORE', KEYS[11], shard_member(context, settlement.id) .. '/' .. settlement.token)
  if not settlement.expired.isGone and lease and tonumber(lease) > context.now then return { 'held' } end
  local reported = redis.call('HGET', KEYS[20], settlement.id .. ':' .. settlement.token) or ''
  if state and reported ~= settlement.expired.reported then return { 'changed', state } end
end

-- The answer for a task whose state is not what the worker saw.
local function changed(state, settlement)
  local task = state and read_state(state, context.bodies, settlement.id)
  if not task or task.status ~= 'running' or task.token ~= tonumber(settlement.token) then return { 'lost' } end
  return { 'changed', state }
end

-- `state`: the task's, as text, or false when it cannot be settled.
local function settle(settlement, state)
  if settlement.refusal then return settlement.refusal end
  -- This same call came before, and its answer was lost.
  if state == settlement.next then return { 'settled' } end
  if state ~= settlement.seen then return changed(state, settlement) end
  local id = settlement.id
  if settlement.attempt ~= '' then redis.call('HSET', KEYS[16], id .. ':' .. settlement.token, settlement.attempt) end
  for event in string.gmatch(settlement.events, '[^,]+') do add_event(batch, id, event, settlement.fact) end
  continue_task(context, batch, settlement)
  if settlement.limit and leaves_lanes(settlement, state) then leave_settled_lane(context, batch, settlement) end
  -- Last: a server without memory refuses the first write above, and lets all others pass; then nothing may have happened.
  add_settled(context, batch, settlement)
  return { 'settled' }
end

local ids, settlements = {}, {}
for id in string.gmatch(ARGV[2], '[^,]+') do ids[#ids + 1] = id end
for position, id in ipairs(ids) do settlements[position] = read_settlement(id) end
local known, answers, settled = redis.call('HMGET', context.states, unpack(ids)), { {} }, {}
for position, settlement in ipairs(settlements) do
  settlement.refusal = settlement.expired and find_life(settlement, known[position])
  -- It leaves no lane then.
  if settlement.refusal then known[position] = false end
end
leave_shared_lanes(context, batch, settlements, known)
pass_lanes(context, batch, settlements, known)
for position, id in ipairs(ids) do
  -- Once in a call: the second settlement of a task has lost.
  local answer = isolate(settle, settlements[position], not settled[id] and known[position])
  if answer[1] == 'settled' then
    settled[id] = true
  else
    return_lane(context, settlements[position])
    answers[#answers + 1] = position
    append(answers, answer[1], answer[2] or '')
  end
end
write_batch(context, batch)
pass_on_grants(context, batch)
close_batch(context, batch)
answers[1] = publish_granted(context)
if context.shard.kept then
  append(answers, 0, 'kept')
  answers[#answers + 1] = ''
end
return answers
