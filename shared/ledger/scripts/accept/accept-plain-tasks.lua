-- Accepts tasks of one tenant that nothing holds back (no caller's key, lane or time, and room for all of them under its rates and caps), as
-- `accept-tasks` would: body, state, lookups, outbox and event. What tasks of one kind share is sent once, and each key is written once.
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
-- ARGV[1] options: JSON, the context: tenant, channels, bounds, caps and rates
-- ARGV[2...] per kind: tasks in a row that share these
--   class: text, their class for caps
--   rate_class: text, their class for rates
--   level: text, `<queue>/<rank>/`
--   ticket: text, cost in ms, attempts, agent and lane; see window.lua
--   before: text, what their bodies begin with, up to the id
--   between: text, what follows the id, up to the input
--   after: text, what their bodies end with
--   lookup_count: int, number of lookups
--   lookups: text, so many, each an argument of its own
--   count: int, number of tasks
--   id: text, a task's id, and with `own` an argument of its own for each task
--   own: JSON, what is the task's own in its body, from its input on; see the codec
-- RETURNS {tickets, outbox entry, depth, state of its tenant when that takes in nothing, `full` when a rate or a cap has no room for all of
--   them, else empty, place per task}; a place is how many ready tickets of the tenant are before it, -1 when its ticket is out, -2 when
--   the same call came before. Without room nothing is written.
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
-- include: rates
-- include: depth
-- include: iterate
-- include: tenant-state
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local closed = shared_exists(KEYS[11]) and closed_state(KEYS[11], context.tenant)
if closed then return { {}, '', 0, closed } end
local next_arg = iterate(ARGV, 2)
local IS_OUT, CAME_BEFORE = -1, -2
local bodies, states, live, index = {}, {}, {}, {}
local tickets, places, created = {}, {}, {}
local state = 'q ' .. context.stamp .. ' ' .. context.stamp
local rates = buckets.open(KEYS[12])
context.counts = {}

-- Reads what tasks of a kind share, and of each its id and what is its own.
local function read_kind(class)
  local rate_class, level, ticket, before, between, after, lookup_count = next_arg(7)
  local kind = { class = class, rate_class = rate_class, granted = 'granted=' .. class .. '/', level = level, tail = '.1/' .. ticket }
  kind.lookups, kind.ids, kind.own = {}, {}, {}
  kind.before, kind.between, kind.after = before, between, after
  kind.head = level .. context.tenant .. '/' .. string.format('%015d', context.now) .. '/'
  for position = 1, tonumber(lookup_count) do kind.lookups[position] = next_arg() .. '/' end
  for position = 1, tonumber(next_arg()) do
    kind.ids[position], kind.own[position] = next_arg(2)
  end
  return kind
end

-- Whether all tasks of a kind have room besides those before them. Counts them.
local function admit_kind(kind)
  local count = #kind.ids
  if not has_room(context, kind.class, count) then return false end
  count_new_grants(context, kind.class, count)
  local after, rules = buckets.check(context, rates, kind.rate_class, count)
  if after > 0 then return false end
  buckets.fill(context, rules, count)
  kind.rules = rules
  return true
end

-- Stores the body of a kind's only task, unless it came before. Returns whether the server did so.
local function store_single(kind)
  local id = kind.ids[1]
  local stored = redis.pcall('HSETNX', context.bodies, id, kind.before .. id .. kind.between .. kind.own[1] .. kind.after)
  -- Without memory it refuses also what came before.
  if type(stored) == 'table' then return false end
  places[#places + 1] = stored == 1 and IS_OUT or CAME_BEFORE
  if stored == 0 then kind.ids = {} end
  return true
end

-- Keeps those of its ids that did not come before: the client sends a call again when the reply was lost.
local function drop_known(kind)
  if #kind.ids == 1 and store_single(kind) then return end
  local known, new = redis.call('HMGET', context.bodies, unpack(kind.ids)), {}
  local before, between, after = kind.before, kind.between, kind.after
  for position, id in ipairs(kind.ids) do
    places[#places + 1] = known[position] and CAME_BEFORE or IS_OUT
    if not known[position] then
      new[#new + 1] = id
      append(bodies, id, before .. id .. between .. kind.own[position] .. after)
    end
  end
  kind.ids = new
end

-- Gathers what is written of the tasks of a kind. In place of `append`, which would take as long as all else.
local function gather(kind)
  local granted, size, lookups = kind.granted, #live, #index
  for position, id in ipairs(kind.ids) do
    created[#created + 1] = id
    states[size + 1], states[size + 2] = id, state
    live[size + 1], live[size + 2] = '0', granted .. id
    size = size + 2
  end
  for _, lookup in ipairs(kind.lookups) do
    for _, id in ipairs(kind.ids) do
      index[lookups + 1], index[lookups + 2] = '0', lookup .. id
      lookups = lookups + 2
    end
  end
end

local kinds = {}
for class in next_arg do
  local kind = read_kind(class)
  kinds[#kinds + 1] = kind
  if not admit_kind(kind) then return { {}, '', 0, 'full' } end
end
for _, kind in ipairs(kinds) do
  local count = #kind.ids
  drop_known(kind)
  if #kind.ids < count then buckets.fill(context, kind.rules, #kind.ids - count) end
  gather(kind)
end

-- Before the tickets: of a task that cannot be written there is none.
call_many('HSET', context.bodies, bodies)
call_many('HSET', context.states, states)
call_many('ZADD', context.live, live)
local entries = redis.call('ZCARD', context.live)
context.is_idle = entries == #created
call_many('ZADD', context.index, index)
buckets.write(rates)

-- Places the tickets of a kind, and notes the places of its tasks from a position on. Returns the position after them.
local function place_kind(kind, position)
  for _, id in ipairs(kind.ids) do
    while places[position] == CAME_BEFORE do position = position + 1 end
    local name, before = place_ticket(context, id, 1, kind.head .. id .. kind.tail, kind.level)
    if name then tickets[#tickets + 1] = name else places[position] = before end
    position = position + 1
  end
  return position
end

local position = 1
for _, kind in ipairs(kinds) do position = place_kind(kind, position) end
local entry = table.concat(tickets, ',')
if entry ~= '' then add_to_outbox(context, entry) end
if #created > 0 then
  local all = table.concat(created, ',')
  emit(context, all, TRANSITIONS.new.pending)
  emit(context, all, TRANSITIONS.pending.queued)
end
return { publish_granted(context), entry, context.is_idle and entries or depth_of(context.live, entries), '', unpack(places) }
