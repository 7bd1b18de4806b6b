-- Ends attempts of one tenant, each if its task is still as the worker saw it, and moves the tasks on: to an end, to a retry, or
-- back in line. What they become was decided by the caller; here it comes true, or not at all.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] leases: the shard's running attempts
-- KEYS[7] signals: the shard's unanswered stops
-- KEYS[8] ended: the shard's ends to tell
-- KEYS[9...] per task: its record; with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2...] per task: id; limit of its lane, or empty; token; state as the worker saw it, JSON; state that follows; its status;
--   class; ticket; `end`, `now`, `later`, or `yield` (later, and others of its lane may go first), when it goes on; attempt, JSON,
--   when others may follow, or empty; output and result, JSON as text, of a task that completed; events, separated by commas; who
--   has to hear of its end and when that was, `<kind>/<ms>`, separated by commas
-- RETURNS {granted, per task: {'settled'} | {'changed', state} | {'lost'} | {'failed', why}}; granted: ids and states of tasks let through, in turn
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local next_key, next_arg = walk(KEYS, 9), walk(ARGV, 2)
gather_grants(book)
local leases, ungranted, index, happened, told = {}, {}, {}, {}, {}

local function changed(state, token)
  local task = state and cjson.decode(state)
  if not task or task.status ~= 'running' or task.token ~= token then return { 'lost' } end
  return { 'changed', state }
end

local function note(id, events)
  for event in string.gmatch(events, '[^,]+') do
    local ids = happened[event] or {}
    happened[event] = ids
    ids[#ids + 1] = id
  end
end

local function settle(id, record, lane_limit, held, wait)
  local token, seen, follows, status, class, ticket = tonumber(next_arg()), next_arg(), next_arg(), next_arg(), next_arg(), next_arg()
  local goes_on, attempt, output, result, events, tell = next_arg(), next_arg(), next_arg(), next_arg(), next_arg(), next_arg()
  local state = redis.call('HGET', record, 'state')
  if state ~= seen then return changed(state, token) end

  local member = book.tenant .. '/' .. id .. '/' .. token
  leases[#leases + 1] = member
  note(id, events)
  if attempt ~= '' then
    redis.call('HSET', record, 'state', follows, 'attempt:' .. token, attempt)
  elseif status == 'completed' then
    redis.call('HSET', record, 'state', follows, 'output', output, 'result', result)
  else
    redis.call('HSET', record, 'state', follows)
  end
  if goes_on == 'end' then
    ungranted[#ungranted + 1] = 'granted=' .. class .. '/' .. id
    index[#index + 1] = 0
    index[#index + 1] = 'status=' .. status .. '/' .. id
    for kind_and_time in string.gmatch(tell, '[^,]+') do
      told[#told + 1] = 0
      told[#told + 1] = kind_and_time .. '/' .. book.tenant .. '/' .. id
    end
    if lane_limit then leave_lane(book, held, wait, id, { lane = true, laneLimit = lane_limit }) end
    return { 'settled' }
  end
  owe_tickets(book, id .. '.' .. ticket)
  if goes_on ~= 'now' then
    ungranted[#ungranted + 1] = 'granted=' .. class .. '/' .. id
    redis.call('ZADD', book.states, 0, status .. '/' .. id)
    if goes_on == 'yield' and lane_limit then leave_lane(book, held, wait, id, { lane = true, laneLimit = lane_limit }) end
  end
  return { 'settled' }
end

local answers = { {} }
local id = next_arg()
while id do
  local lane_limit = tonumber(next_arg())
  local record = next_key()
  local held = lane_limit and next_key()
  local wait = lane_limit and next_key()
  answers[#answers + 1] = alone(settle, id, record, lane_limit, held, wait)
  id = next_arg()
end
if #leases > 0 then
  redis.call('ZREM', KEYS[6], unpack(leases))
  redis.call('HDEL', KEYS[7], unpack(leases))
end
write_grants(book)
if #ungranted > 0 then
  redis.call('ZREM', book.states, unpack(ungranted))
  promote_backlog(book)
end
if #index > 0 then redis.call('ZADD', book.index, unpack(index)) end
if #told > 0 then redis.call('ZADD', KEYS[8], unpack(told)) end
-- How an attempt ended comes before how its task did.
for _, event in ipairs({ 'task.failed', 'task.timeout', 'task.interrupted', 'task.completed', 'task.cancelled', 'task.permanently_failed' }) do
  if happened[event] then emit(book, table.concat(happened[event], ','), event) end
end
answers[1] = let_through(book)
return answers
