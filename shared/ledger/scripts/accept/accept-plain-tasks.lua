-- Accepts tasks of one tenant that nothing can hold back (no caller's key, rate, lane, time or cap), as `accept-tasks` would: body, state,
-- lookups, outbox and event. What tasks of one kind share is sent once, and each key is written once.
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
-- ARGV[1] options: JSON, the context: tenant, channels and bounds
-- ARGV[2...] per kind: tasks in a row that share these
--   class: text, their class for caps
--   level: text, `<queue>/<rank>/`
--   ticket: text, cost in ms, attempts, agent and lane; see window.lua
--   lookup_count: int, number of lookups
--   lookups: text, so many, each an argument of its own
--   count: int, number of tasks
--   id: text, a task's id, and with `body` an argument of its own for each task
--   body: JSON, what never changes; see the codec
-- RETURNS {tickets, outbox entry, depth, state of its tenant when that takes in nothing, else empty, place per task}; a place is how many
--   ready tickets of the tenant are before it, -1 when its ticket is out, -2 when the same call came before
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
local accepted, tickets, places = {}, {}, {}
local state = 'q ' .. context.stamp .. ' ' .. context.stamp

local function read_kind(class)
  local kind = { granted = 'granted=' .. class .. '/', level = next_arg(), ticket = '.1/' .. next_arg(), lookups = {}, ids = {}, bodies = {} }
  for position = 1, tonumber(next_arg()) do kind.lookups[position] = next_arg() .. '/' end
  for position = 1, tonumber(next_arg()) do
    kind.ids[position], kind.bodies[position] = next_arg(), next_arg()
  end
  kind.ticket_head = kind.level .. context.tenant .. '/' .. string.format('%015d', context.now) .. '/'
  return kind
end

-- Gathers what is written of a task.
local function gather(kind, id, body)
  append(bodies, id, body)
  append(states, id, state)
  append(live, 0, kind.granted .. id)
  for _, lookup in ipairs(kind.lookups) do append(index, 0, lookup .. id) end
  append(accepted, id, kind)
end

local class = next_arg()
while class do
  local kind = read_kind(class)
  -- The client sends a call again when the reply was lost.
  local known = redis.call('HMGET', context.bodies, unpack(kind.ids))
  for position, id in ipairs(kind.ids) do
    places[#places + 1] = CAME_BEFORE
    if not known[position] then
      gather(kind, id, kind.bodies[position])
      places[#places] = #accepted
    end
  end
  class = next_arg()
end

-- Before the tickets: of a task that cannot be written there is none.
call_many('HSET', context.bodies, bodies)
call_many('HSET', context.states, states)
call_many('ZADD', context.live, live)
call_many('ZADD', context.index, index)

local function place(id, kind)
  local name, before = place_ticket(context, id, 1, kind.ticket_head .. id .. kind.ticket)
  if not name then return before end
  tickets[#tickets + 1] = name
  return IS_OUT
end

local ids = {}
for position, at in ipairs(places) do
  if at ~= CAME_BEFORE then
    ids[#ids + 1] = accepted[at - 1]
    places[position] = place(accepted[at - 1], accepted[at])
  end
end
local entry = table.concat(tickets, ',')
if entry ~= '' then add_to_outbox(context, entry) end
if #ids > 0 then
  local all = table.concat(ids, ',')
  emit(context, all, TRANSITIONS.new.pending)
  emit(context, all, TRANSITIONS.pending.queued)
end
return { publish_granted(context), entry, depth_of(context.live), '', unpack(places) }
