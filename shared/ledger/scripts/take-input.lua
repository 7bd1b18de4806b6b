-- Takes messages that wait in the lane of a running task into its run; each ends as part of it.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] held: who holds its lane, any name when it has none
-- KEYS[8] wait: who waits for it
-- KEYS[9] deadlines: the shard's deadlines
-- KEYS[10] ended: the shard's ends to tell
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the running task's
-- ARGV[3] token: the attempt's
-- ARGV[4] how: `steered`, those offered to the task; `merged`, those in mode collect at the head of the line
-- ARGV[5] most: messages
-- ARGV[6] call: a name for this call alone
-- RETURNS {granted, 'taken', state, ids and bodies in turn} | {granted, 'lost'}; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: shared-lanes
-- include: lanes
-- include: endings
-- include: senders
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local id, how, most = ARGV[2], ARGV[4], tonumber(ARGV[5])
local keys = { held = KEYS[7], wait = KEYS[8], deadlines = KEYS[9], ended = KEYS[10] }
-- Messages whose input one task has besides its own; what comes later is the next turn.
local INPUTS_MOST = 1000

local function fits(state, task)
  if not string.find(state, '"status":"pending"', 1, true) then return false end
  if how == 'steered' then return string.match(state, '"steer":"([^"]+)"') == id end
  if not string.find(state, '"collect":{', 1, true) then return false end
  local other = cjson.decode(state)
  return other.agent == task.agent and same_sender(other, task)
end

-- The messages to take, in the order of the line.
local function choose(task)
  local line = redis.call('ZRANGE', KEYS[8], 0, LINE_MOST - 1)
  if #line == 0 or task.cancel then return {} end
  local chosen, room = {}, math.min(most, INPUTS_MOST - #(task.inputs or {}))
  for position, state in ipairs(redis.call('HMGET', book.states, unpack(line))) do
    if #chosen >= room then break end
    if state and fits(state, task) then
      chosen[#chosen + 1] = line[position]
    elseif how == 'merged' then
      break
    end
  end
  return chosen
end

local function take(message, task)
  local state = load_task(book, message)
  for _, note in ipairs(state.leftOut or {}) do
    task.leftOut = task.leftOut or {}
    table.insert(task.leftOut, note)
  end
  state.outcome = { kind = how, taskId = id }
  finish(book, keys, message, state, 'skipped', how .. ' into task ' .. id)
  task.inputs = task.inputs or {}
  table.insert(task.inputs, { id = message, how = how })
end

local stored = redis.call('HGET', book.states, id)
local task = stored and read_state(stored, book.bodies, id)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then return { {}, 'lost' } end

-- The client sends a call again when the reply was lost: it gets what it took the first time.
local last_call, count = string.match(task.taking or '', '^(%S+) (%d+)$')
local is_again = last_call == ARGV[6]
local chosen = is_again and {} or choose(task)
for _, message in ipairs(chosen) do take(message, task) end
if #chosen > 0 then
  task.taking = ARGV[6] .. ' ' .. #chosen
  stored = cjson.encode(task)
  redis.call('HSET', book.states, id, stored)
  emit(book, table.concat(chosen, ','), 'task.skipped')
end
local taken = {}
for position = #(task.inputs or {}) - (is_again and count or #chosen) + 1, #(task.inputs or {}) do
  local message = task.inputs[position].id
  append(taken, message, redis.call('HGET', book.bodies, message))
end
return { let_through(book), 'taken', stored, taken }
