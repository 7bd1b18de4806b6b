-- Accepts tasks of one tenant that nothing but their own lanes holds back (no time, and room for all of them under its rates, its caps and their
-- shared lanes), as `accept-tasks` would: body, state, lookups, lane, caller's key, outbox and event. What tasks of one kind share is sent once, and
-- each key that the tenant's tasks share is written once.
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
-- KEYS[11] tenants: hash, tenants of the shard that are not active
-- KEYS[12] rates: hash, when the tenant's buckets are empty again by class and window, ms
-- KEYS[13] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[14] slas: zset, slas of the shard's tasks, ms
-- KEYS[15...] per task: as its kind says, the caller's key; its lane's holders and its line
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, limit on waiting and rates
-- ARGV[2] remember: int, ms, how long a caller's key is kept
-- ARGV[3...] per kind: tasks that share these
--   class: text, their class for caps
--   rate_class: text, their class for rates
--   level: text, `<queue>/<rank>/`
--   ticket: text, cost in ms, attempts, agent and an empty lane; see window.lua
--   shared: text, `<limit> <name>` of each of their shared lanes, separated by line feeds, or empty
--   has: text, a letter for each thing that these tasks have: `k`, a caller's key; `l`, a lane; `d`, a deadline; `s`, an sla
--   before: text, what their bodies begin with, up to the id; empty where each task has a body of its own
--   between: text, what follows the id, up to the input
--   after: text, what their bodies end with
--   lookup_count: int, number of lookups
--   lookups: text, so many, each an argument of its own
--   own_count: int, number of lookups that each task has besides
--   count: int, number of tasks
--   of each task:
--     id: text
--     own: JSON, what is its own in its body, from its input on, or all of it; see the codec
--     first_request: text, with a key, what is kept under it: `<id> <digest of what the caller sent>`
--     lane: text, its name
--     deadline: int, ms
--     sla: int, ms
--     ranks_from: int, ms, what it counts from with an sla
--     lookups: text, with its id, so many, each an argument of its own
-- RETURNS {tickets, outbox entry, depth, state of its tenant when that takes in nothing, `full` when something holds any of them back, else
--   empty, place per task, kind by kind}; a place is how many ready tickets of the tenant are before it, -1 when its ticket is out, -2 when
--   the same call came before, and -3 - n when it waits in its lane behind n tasks. When something holds one back nothing is written.
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
-- include: rates
-- include: depth
-- include: iterate
-- include: tenant-state
-- include: kinds
-- include: plain-lanes
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local closed = shared_exists(KEYS[11]) and closed_state(KEYS[11], context.tenant)
if closed then return { {}, '', 0, closed } end
local IS_OUT, CAME_BEFORE, BEHIND_NONE = -1, -2, -3
local remember_ms = ARGV[2]
local kinds, callers_keys, lanes = read_kinds(context, iterate(KEYS, 15), iterate(ARGV, 3))
local bodies, states, live, index, deadlines, slas = {}, {}, {}, {}, {}, {}
local tickets, places, created, queued = {}, {}, {}, {}
-- Some have no ticket, because they wait in their lanes.
local has_waiting = false
local rates, rooms = buckets.open(KEYS[12]), {}
context.counts = {}

-- Whether all tasks of a kind have room besides those before them. Counts them.
local function admit_kind(kind)
  local count = #kind.ids
  if not has_room(context, kind.class, count) then return false end
  count_new_grants(context, kind.class, count)
  local after, rules = buckets.check(context, rates, kind.rate_class, count)
  if after > 0 then return false end
  buckets.fill(context, rules, count)
  kind.rules = rules
  return plain_lanes.admit_shared(context, rooms, kind)
end

-- Whether nothing but their lanes holds any of the tasks back, and none came under its caller's key before.
local function admit_all()
  for _, kind in ipairs(kinds) do
    if not admit_kind(kind) then return false end
  end
  if #callers_keys > 0 and redis.call('EXISTS', unpack(callers_keys)) > 0 then return false end
  return plain_lanes.admit(context, lanes)
end

-- Stores the body of the call's only task, unless it came before. Returns whether the server did so.
local function store_single(kind)
  local stored = redis.pcall('HSETNX', context.bodies, kind.ids[1], body_of(kind, 1))
  -- Without memory it refuses also what came before.
  if type(stored) == 'table' then return false end
  places[1] = stored == 1 and IS_OUT or CAME_BEFORE
  if stored == 0 then keep_tasks(kind, {}) end
  return true
end

-- Keeps the tasks of a kind that did not come before, and gathers their bodies. `next_known`: returns the stored body of the next, or false.
local function drop_known(kind, next_known)
  local new = {}
  for position, id in ipairs(kind.ids) do
    local is_known = next_known() ~= false
    places[#places + 1] = is_known and CAME_BEFORE or IS_OUT
    if not is_known then
      new[#new + 1] = position
      append(bodies, id, body_of(kind, position))
    end
  end
  if #new < #kind.ids then keep_tasks(kind, new) end
end

-- Stores the bodies of the tasks that did not come before, and keeps those: the client sends a call again when the reply was lost.
local function store_bodies()
  local ids, counts = {}, {}
  for at, kind in ipairs(kinds) do
    counts[at] = #kind.ids
    for _, id in ipairs(kind.ids) do ids[#ids + 1] = id end
  end
  if #ids > 1 or not store_single(kinds[1]) then
    local next_known = iterate(redis.call('HMGET', context.bodies, unpack(ids)), 1)
    for _, kind in ipairs(kinds) do drop_known(kind, next_known) end
  end
  for at, kind in ipairs(kinds) do
    if #kind.ids < counts[at] then buckets.fill(context, kind.rules, #kind.ids - counts[at]) end
  end
  -- Before all else: of a task that cannot be written there is nothing.
  call_many('HSET', context.bodies, bodies)
end

-- Brings the tasks of a kind to their lanes. Returns those that hold theirs, and gathers what is written of those that wait.
local function enter_lanes(kind)
  local holders, state = {}, 'w ' .. context.stamp .. ' ' .. kind.class
  for position, id in ipairs(kind.ids) do
    local ahead = plain_lanes.enter(context, kind.lanes[position], id)
    kind.ahead[position] = ahead
    if ahead then
      has_waiting = true
      append(states, id, state)
      append(live, '0', 'pending/' .. id)
    else
      holders[#holders + 1] = id
    end
  end
  return holders
end

-- Gathers what is written of the tasks of a kind. In place of `append`, which would take as long as all else.
local function gather(kind)
  local ids, holders = kind.ids, kind.has_lane and enter_lanes(kind) or kind.ids
  local granted, state = 'granted=' .. kind.class .. '/', 'q ' .. context.stamp .. ' ' .. context.stamp
  local listed, stated, indexed = #live, #states, #index
  for _, id in ipairs(holders) do
    states[stated + 1], states[stated + 2] = id, state
    live[listed + 1], live[listed + 2] = '0', granted .. id
    stated, listed = stated + 2, listed + 2
  end
  for _, lane in ipairs(kind.shared) do
    for _, id in ipairs(ids) do append(live, '0', holds_member(lane, id)) end
  end
  for _, lookup in ipairs(kind.own_lookups) do
    index[indexed + 1], index[indexed + 2] = '0', lookup
    indexed = indexed + 2
  end
  for _, lookup in ipairs(kind.lookups) do
    for _, id in ipairs(ids) do
      index[indexed + 1], index[indexed + 2] = '0', lookup .. '/' .. id
      indexed = indexed + 2
    end
  end
end

-- Gathers the times of the tasks of a kind, and stores under which keys their callers sent them.
local function gather_times(kind)
  for position, id in ipairs(kind.ids) do
    if kind.has_deadline then append(deadlines, kind.deadlines[position], shard_member(context, id)) end
    if kind.has_sla then append(slas, kind.slas[position], shard_member(context, id)) end
    if kind.has_key then redis.call('SET', kind.keys[position], kind.first_requests[position], 'PX', remember_ms) end
  end
end

if not admit_all() then return { {}, '', 0, 'full' } end
store_bodies()
for _, kind in ipairs(kinds) do gather(kind) end
call_many('HSET', context.states, states)
call_many('ZADD', context.live, live)
local entries = redis.call('ZCARD', context.live)
context.is_idle = entries == #live / 2
call_many('ZADD', context.index, index)
for _, kind in ipairs(kinds) do
  if kind.has ~= '' then gather_times(kind) end
end
write_shared(context, 'ZADD', KEYS[13], deadlines)
write_shared(context, 'ZADD', KEYS[14], slas)
plain_lanes.write(lanes)
buckets.write(rates)

-- Places the tickets of a kind, and notes the places of its tasks from a position on. Returns the position after them.
local function place_kind(kind, position)
  local head, tail = kind.from .. time_rank(context.now) .. '/', kind.tail
  for at, id in ipairs(kind.ids) do
    while places[position] == CAME_BEFORE do position = position + 1 end
    local ahead = kind.has_lane and kind.ahead[at]
    created[#created + 1] = id
    if ahead then
      places[position] = BEHIND_NONE - ahead
    else
      if has_waiting then queued[#queued + 1] = id end
      if kind.has_sla then head = kind.from .. time_rank(context.now, tonumber(kind.ranks_from[at])) .. '/' end
      local text = head .. id .. tail
      if kind.has_lane then text = text .. kind.lane_names[at] end
      local name, before = place_ticket(context, id, 1, text, kind.level)
      if name then tickets[#tickets + 1] = name else places[position] = before end
    end
    position = position + 1
  end
  return position
end

local position = 1
for _, kind in ipairs(kinds) do position = place_kind(kind, position) end
local entry = table.concat(tickets, ',')
if entry ~= '' then add_to_outbox(context, entry) end
if #created > 0 then emit(context, table.concat(created, ','), TRANSITIONS.new.pending) end
if not has_waiting then queued = created end
if #queued > 0 then emit(context, table.concat(queued, ','), TRANSITIONS.pending.queued) end
local depth = context.is_idle and #created or depth_of(context.live, entries)
return { publish_granted(context), entry, depth, '', unpack(places) }
