-- Takes messages that wait in the lane of a running task into its run; each ends as part of it. Their records have to be among
-- KEYS: those up to the first that is not are taken.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] record: the running task's
-- KEYS[7] held: who holds its lane, any name when it has none
-- KEYS[8] wait: who waits for it
-- KEYS[9] deadlines: the shard's deadlines
-- KEYS[10] ended: the shard's ends to tell
-- KEYS[11...] per task: record of a message that the caller believes to wait
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the running task's
-- ARGV[3] token: the attempt's
-- ARGV[4] how: `steered`, those offered to the task; `merged`, those in mode collect at the head of the line
-- ARGV[5] most: messages
-- ARGV[6] call: a name for this call alone
-- ARGV[7...] per task: id of a message that the caller believes to wait
-- RETURNS {granted, 'taken', state, ids and bodies in turn} | {granted, 'moved', ids} | {granted, 'lost'}; granted: ids and states
--   of tasks let through, in turn
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
-- include: endings
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local id, how, most = ARGV[2], ARGV[4], tonumber(ARGV[5])
local next_key, next_arg = walk(KEYS, 11), walk(ARGV, 7)
local records = {}
for other in next_arg do records[other] = next_key() end
-- Messages whose input one task has besides its own; what comes later is the next turn.
local INPUTS_MOST = 1000

local function fits(state, task)
  if not string.find(state, '"status":"pending"', 1, true) then return false end
  if how == 'steered' then return string.match(state, '"steer":"([^"]+)"') == id end
  return string.find(state, '"collect":{', 1, true) and cjson.decode(state).agent == task.agent
end

-- The messages to take, in the order of the line.
local function choose(task)
  local line = redis.call('ZRANGE', KEYS[8], 0, LINE_MOST - 1)
  if #line == 0 or task.cancel then return {} end
  local chosen, room = {}, math.min(most, INPUTS_MOST - #(task.inputs or {}))
  for position, state in ipairs(redis.call('HMGET', book.parked, unpack(line))) do
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
  local keys = { record = records[message], held = KEYS[7], wait = KEYS[8], deadlines = KEYS[9], ended = KEYS[10] }
  local state = load_task(book, keys.record, message)
  for _, note in ipairs(state.leftOut or {}) do
    task.leftOut = task.leftOut or {}
    table.insert(task.leftOut, note)
  end
  state.outcome = { kind = how, taskId = id }
  finish(book, keys, message, state, 'skipped', how .. ' into task ' .. id)
  task.inputs = task.inputs or {}
  table.insert(task.inputs, { id = message, how = how })
end

local stored = redis.call('HGET', KEYS[6], 'state')
local task = stored and cjson.decode(stored)
if not task or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then return { {}, 'lost' } end

-- The client sends a call again when the reply was lost: what it named and the task has, it took the first time.
local again = {}
for _, part in ipairs(task.taking == ARGV[6] and task.inputs or {}) do
  if records[part.id] then again[#again + 1] = part.id end
end
local wanted, chosen = #again > 0 and {} or choose(task), {}
for _, message in ipairs(wanted) do
  if not records[message] then break end
  chosen[#chosen + 1] = message
end
if #wanted > 0 and #chosen == 0 then return { {}, 'moved', wanted } end
for _, message in ipairs(chosen) do take(message, task) end
if #chosen > 0 then
  task.taking = ARGV[6]
  stored = cjson.encode(task)
  redis.call('HSET', KEYS[6], 'state', stored)
  emit(book, table.concat(chosen, ','), 'task.skipped')
end
local taken = {}
for _, message in ipairs(#again > 0 and again or chosen) do
  taken[#taken + 1] = message
  taken[#taken + 1] = redis.call('HGET', records[message], 'body')
end
return { let_through(book), 'taken', stored, taken }
