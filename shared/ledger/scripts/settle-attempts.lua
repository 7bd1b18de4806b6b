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
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] ids: text, of the tasks, separated by commas
-- ARGV[3...] per task: one settlement
--   token: int, the attempt's fencing token
--   limit: int, tasks that its lane holds at once, or empty without a lane
--   class: text, its class for caps
--   seen: state, as the worker saw it
--   next: state that follows
--   status: text, status of that
--   continuation: `end`, `now`, `later`, `yield` (later, and others of its lane may go first), `hold` (until it is released, or due),
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
--   agent: text, its agent when it completed, with ` <code>` when it failed for good, else empty
-- RETURNS tickets, and three more per attempt that was not settled: its position in the call, and 'changed', state | 'lost', '' | 'failed', reason;
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: tickets
-- include: dispatch
-- include: grants
-- include: shared-lanes
-- include: lanes
-- include: preemption
-- include: iterate
-- include: count-usage
-- include: failures
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local next_key, next_arg = iterate(KEYS, 22), iterate(ARGV, 3)
gather_grants(context)
-- What all settlements of the call write to the keys that they share.
local states, outputs, results, leases, ungranted, index, ended, deadlines = {}, {}, {}, {}, {}, {}, {}, {}
local events, critical, yielding, used, ends = {}, {}, {}, {}, {}

local function read_settlement(id)
  local settlement = {
    id = id, token = next_arg(), limit = tonumber(next_arg()), class = next_arg(), seen = next_arg(), next = next_arg(),
    status = next_arg(), continuation = next_arg(), at = next_arg(), level = next_arg(), subscribers = next_arg(), events = next_arg(), fact = next_arg(),
    attempt = next_arg(), output = next_arg(), result = next_arg(), shared = next_arg(), has_deadline = next_arg() ~= '', usage = next_arg(),
    agent = next_arg(),
  }
  if settlement.limit then settlement.held, settlement.wait = next_key(), next_key() end
  return settlement
end

-- The answer for a task whose state is not what the worker saw.
local function changed(state, settlement)
  local task = state and read_state(state, context.bodies, settlement.id)
  if not task or task.status ~= 'running' or task.token ~= tonumber(settlement.token) then return { 'lost' } end
  return { 'changed', state }
end

-- Gathers an event of the task. `fact`: JSON, or empty.
local function add_event(id, event, fact)
  local gathered = events[event] or { ids = {}, facts = {} }
  events[event] = gathered
  gathered.ids[#gathered.ids + 1] = id
  gathered.facts[#gathered.ids] = fact == '' and 'null' or fact
  gathered.has_facts = gathered.has_facts or fact ~= ''
end

-- The task has ended: out of the live lookups, into the index.
local function close(settlement)
  local id = settlement.id
  ungranted[#ungranted + 1] = granted_member(settlement, id)
  append(index, '0', 'status=' .. settlement.status .. '/' .. id)
  if settlement.has_deadline then deadlines[#deadlines + 1] = shard_member(context, id) end
  for kind_and_time in string.gmatch(settlement.subscribers, '[^,]+') do
    append(ended, 0, kind_and_time .. '/' .. shard_member(context, id))
  end
  if settlement.status ~= 'completed' then return end
  append(outputs, id, settlement.output)
  if settlement.result ~= '' then append(results, id, settlement.result) end
end

-- The task waits for its retry without a grant.
local function park(settlement)
  local id = settlement.id
  schedule_due(context, KEYS[18], id, settlement.at)
  ungranted[#ungranted + 1] = granted_member(settlement, id)
  redis.call('ZADD', context.live, 0, settlement.status .. '/' .. id)
end

-- The task waits behind the critical one that it made room for: in the lines of its shared lanes, or under the caps with all of its lanes.
local function make_room(settlement)
  local id, task = settlement.id, cjson.decode(settlement.next)
  ungranted[#ungranted + 1] = granted_member(settlement, id)
  redis.call('ZADD', context.live, 0, task.status .. '/' .. id)
  if settlement.continuation == 'lanes' then
    append(yielding, id, task)
  else
    redis.call('ZADD', context.live, 0, backlog_member(task, id))
  end
  critical[#critical + 1] = task.preemptedBy
end

-- The task waits for what holds it, without a grant. It keeps its own lane only: what it shares may serve others meanwhile.
local function hold(settlement)
  local id, task = settlement.id, cjson.decode(settlement.next)
  if settlement.at ~= '' then schedule_due(context, KEYS[18], id, settlement.at) end
  ungranted[#ungranted + 1] = granted_member(settlement, id)
  redis.call('ZADD', context.live, 0, task.status .. '/' .. id, 0, hold_member(task, id))
  leave_lane(context, nil, nil, id, { sharedLanes = task.sharedLanes, createdAt = task.createdAt, queue = task.queue })
end

-- Whether the task of a settlement leaves its lanes; `state`: the task's, as text.
local function leaves_lanes(settlement, state)
  return (settlement.continuation == 'end' or settlement.continuation == 'yield') and state == settlement.seen
end

-- Takes the tasks of the call out of their shared lanes, and finds whether any other waits for their own. Who waits for the shared ones is
-- granted at the end.
local freed, has_lines = {}, false
local function release_lanes(settlements, states)
  local holds, waits, leaving, decoded = {}, {}, {}, {}
  for position, settlement in ipairs(settlements) do
    if leaves_lanes(settlement, states[position]) then
      if settlement.wait then waits[#waits + 1] = settlement.wait end
      if settlement.shared ~= '' then
        local lanes = decoded[settlement.shared] or cjson.decode(settlement.shared)
        decoded[settlement.shared], leaving[#leaving + 1] = lanes, settlement
        for _, lane in ipairs(lanes) do holds[#holds + 1], freed[lane.name] = holds_member(lane, settlement.id), lane end
      end
    end
  end
  has_lines = #waits > 0 and redis.call('EXISTS', unpack(waits)) > 0
  if #holds == 0 or redis.call('ZREM', context.live, unpack(holds)) == #holds then return end
  for _, settlement in ipairs(leaving) do leave_shared(context, settlement.id, read_state(settlement.seen, context.bodies, settlement.id)) end
end

local function leave_own(settlement)
  if has_lines then
    leave_own_lane(context, settlement.held, settlement.wait, settlement.id, { lane = true, laneLimit = settlement.limit })
  else
    redis.call('ZREM', settlement.held, settlement.id)
  end
end

-- `state`: the task's, as text, or false when it cannot be settled.
local function settle(settlement, state)
  local id, continuation = settlement.id, settlement.continuation
  -- This same call came before, and its answer was lost.
  if state == settlement.next then return { 'settled' } end
  if state ~= settlement.seen then return changed(state, settlement) end
  if settlement.attempt ~= '' then redis.call('HSET', KEYS[16], id .. ':' .. settlement.token, settlement.attempt) end
  for event in string.gmatch(settlement.events, '[^,]+') do add_event(id, event, settlement.fact) end
  if continuation == 'end' then
    close(settlement)
  elseif continuation == 'now' then
    return_ticket(context, id, settlement.level)
    add_to_outbox(context, id .. '.' .. settlement.at)
  elseif continuation == 'backlog' or continuation == 'lanes' then
    make_room(settlement)
  elseif continuation == 'hold' then
    hold(settlement)
  else
    park(settlement)
  end
  if settlement.limit and leaves_lanes(settlement, state) then leave_own(settlement) end
  -- Last: a server without memory refuses the first write above, and lets all others pass; then nothing may have happened.
  leases[#leases + 1] = shard_member(context, id) .. '/' .. settlement.token
  append(states, id, settlement.next)
  if settlement.usage ~= '' then used[#used + 1] = settlement end
  if settlement.agent ~= '' then
    local agent, code = string.match(settlement.agent, '^(%S+) ?(.*)$')
    ends[#ends + 1] = { id = id, agent = agent, code = code }
  end
  return { 'settled' }
end

local ids = {}
for id in string.gmatch(ARGV[2], '[^,]+') do ids[#ids + 1] = id end
local known, answers, settled = redis.call('HMGET', context.states, unpack(ids)), { {} }, {}
local settlements = {}
for position, id in ipairs(ids) do settlements[position] = read_settlement(id) end
release_lanes(settlements, known)
for position, id in ipairs(ids) do
  -- Once in a call: the second settlement of a task has lost.
  local answer = isolate(settle, settlements[position], not settled[id] and known[position])
  if answer[1] == 'settled' then
    settled[id] = true
  else
    answers[#answers + 1] = position
    append(answers, answer[1], answer[2] or '')
  end
end
if #leases > 0 then
  write_shared(context, 'ZREM', KEYS[11], leases)
  -- Stops are rare.
  if shared_exists(KEYS[12]) then
    redis.call('HDEL', KEYS[12], unpack(leases))
    for _, lease in ipairs(leases) do redis.call('HDEL', KEYS[12], preempt_signal(lease)) end
  end
end
call_many('HSET', context.states, states)
call_many('HSET', KEYS[14], outputs)
call_many('HSET', KEYS[15], results)
for _, settlement in ipairs(used) do
  count_usage(KEYS[19], cjson.decode(settlement.usage), context.usage)
  redis.call('HDEL', KEYS[20], settlement.id .. ':' .. settlement.token)
end
count_failures(context, KEYS[21], ends)
-- A task that cannot be read holds up its lanes, and not those who settle.
for _, lane in pairs(freed) do isolate(promote_shared, context, { lane }) end
write_grants(context)
if #ungranted > 0 then
  redis.call('ZREM', context.live, unpack(ungranted))
  for position = 1, #yielding, 2 do return_to_lines(context, yielding[position], yielding[position + 1]) end
  for _, id in ipairs(critical) do grant_critical(context, id) end
  promote_backlog(context)
end
if #index > 0 then redis.call('ZADD', context.index, unpack(index)) end
write_shared(context, 'ZADD', KEYS[13], ended)
write_shared(context, 'ZREM', KEYS[17], deadlines)
-- The end of an attempt comes before the end of its task.
local order = {
  TRANSITIONS.running.failed, TRANSITIONS.running.timeout, TRANSITIONS.running.queued, 'task.preempted', TRANSITIONS.running.completed,
  TRANSITIONS.running.cancelled, TRANSITIONS.failed.permanently_failed,
}
for _, event in ipairs(order) do
  local gathered = events[event]
  if gathered then
    local facts = gathered.has_facts and '[' .. table.concat(gathered.facts, ',') .. ']' or nil
    emit(context, table.concat(gathered.ids, ','), event, facts)
  end
end
answers[1] = publish_granted(context)
return answers
