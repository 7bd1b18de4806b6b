-- Takes messages that wait in the lane of a running task into its run; each ends as part of it.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[8] jobs: zset, the shard's tickets with a job in BullMQ that no worker has drawn, by queue
-- KEYS[9] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[10] weights: hash, weights of the shard's tenants in their turns
-- KEYS[11] held: zset, holders of the task's lane by ms, any name when it has none
-- KEYS[12] wait: zset, line of that lane by slot
-- KEYS[13] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[14] ended: zset, ends of the shard's tasks that subscribers have not received
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] id: text, the running task's id
-- ARGV[3] token: int, the attempt's fencing token
-- ARGV[4] how: `steered`, messages offered to the task; `merged`, those in mode collect at the head of the line
-- ARGV[5] max: int, messages
-- ARGV[6] call: text, a name for this call alone
-- RETURNS {tickets, 'taken', state, ids and bodies in turn} | {tickets, 'lost'};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: ready
-- include: turns
-- include: tickets
-- include: grants
-- include: lane-limits
-- include: gates
-- include: lanes
-- include: finish
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local id, how, max = ARGV[2], ARGV[4], tonumber(ARGV[5])
local keys = { held = KEYS[11], wait = KEYS[12], deadlines = KEYS[13], ended = KEYS[14] }
-- Messages whose input one task has besides its own; later ones are the next turn.
local MAX_INPUTS = 1000

-- Whether a waiting message may go into the task's run. `state`: what its state says by itself.
local function fits(state, task)
  if state.status ~= 'pending' then return false end
  if how == 'steered' then return state.steer == id end
  return state.collect and state.agent == task.agent and same_sender(state, task)
end

-- The messages to take, in the order of the line.
local function choose(task)
  local line = redis.call('ZRANGE', KEYS[12], 0, MAX_LINE - 1)
  if #line == 0 or task.cancel then return {} end
  local chosen, room = {}, math.min(max, MAX_INPUTS - #(task.inputs or {}))
  for position, text in ipairs(redis.call('HMGET', context.states, unpack(line))) do
    if #chosen >= room then break end
    if text and fits(read_known(text), task) then
      chosen[#chosen + 1] = line[position]
    elseif how == 'merged' then
      break
    end
  end
  return chosen
end

-- Ends a message as part of the task. Returns the event.
local function take(message, task)
  local state = load_task(context, message)
  for _, note in ipairs(state.leftOut or {}) do
    task.leftOut = task.leftOut or {}
    table.insert(task.leftOut, note)
  end
  state.outcome = { kind = how, taskId = id }
  local event = finish(context, keys, message, state, 'skipped', how .. ' into task ' .. id)
  task.inputs = task.inputs or {}
  -- What it carries on comes before all that is taken, whose places at the end are counted on.
  for position, part in ipairs(state.inputs or {}) do table.insert(task.inputs, position, part) end
  table.insert(task.inputs, { id = message, how = how })
  return event
end

local stored = redis.call('HGET', context.states, id)
local task = stored and read_state(stored, context.bodies, id)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then return { {}, 'lost' } end

-- The client sends a call again when the reply was lost: it gets what it took the first time.
local last_call, count = string.match(task.taking or '', '^(%S+) (%d+)$')
local is_again = last_call == ARGV[6]
local chosen = is_again and {} or choose(task)
local event
for _, message in ipairs(chosen) do event = take(message, task) end
if #chosen > 0 then
  task.taking = ARGV[6] .. ' ' .. #chosen
  stored = write_state(task)
  redis.call('HSET', context.states, id, stored)
  emit(context, table.concat(chosen, ','), event)
end
local taken = {}
for position = #(task.inputs or {}) - (is_again and count or #chosen) + 1, #(task.inputs or {}) do
  local message = task.inputs[position].id
  append(taken, message, redis.call('HGET', context.bodies, message))
end
return { publish_granted(context), 'taken', stored, taken }
