-- Ends attempts of one tenant, each if its task is still as the worker saw it, and moves the tasks on: to an end, to a retry, or
-- back in line. What they become was decided by the caller; here it comes true, or not at all.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] leases: the shard's running attempts
-- KEYS[8] signals: the shard's unanswered stops
-- KEYS[9] ended: the shard's ends to tell
-- KEYS[10] outputs: the tenant's tasks' outputs
-- KEYS[11] results: the tenant's tasks' results
-- KEYS[12] attempts: the tenant's attempts that others followed
-- KEYS[13] deadlines: the shard's deadlines
-- KEYS[14] due: the shard's tasks that wait for a time
-- KEYS[15...] per task: with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] ids: of the tasks, separated by commas
-- ARGV[3...] per task: `<token> <limit of its lane, or -> <class> <told> <how> <more>`; state as the worker saw it; and more. `told`:
--   who has to hear of its end and when that was, `<kind>/<ms>`, separated by commas, or -. By how:
--   `completed`, from a short state: more is what that gets; output; result, JSON, or empty
--   `answered`, from one in JSON: more is a fact, JSON, for the event stream; state that follows; output; result, JSON, or empty
--   `end`, `now`, `later`, `yield` (later, and others of its lane may go first): more is `<its status> <ticket, or when it is due, ms>
--   <events, separated by commas> <fact>`; state that follows; attempt, JSON, when others may follow, or empty
-- RETURNS granted, and three more for each task that was not settled: its number in the call, and 'changed', state | 'lost', '' |
--   'failed', why; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: due
-- include: shared-lanes
-- include: lanes
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local next_key, next_arg = walk(KEYS, 15), walk(ARGV, 3)
gather_grants(book)
local states, outputs, results, leases, ungranted, index, happened, told, timed = {}, {}, {}, {}, {}, {}, {}, {}, {}
local settlements, ends, answered = 0, 0, 0

-- What to say of a task whose state is not the one that the worker saw.
local function changed(state, id, token)
  local task = state and read_state(state, book.bodies, id)
  if not task or task.status ~= 'running' or task.token ~= tonumber(token) then return { 'lost' } end
  return { 'changed', state }
end

-- `fact`: JSON of what more is known of it, or empty.
local function note(id, event, fact)
  local now = happened[event] or { ids = {}, facts = {} }
  happened[event] = now
  now.ids[#now.ids + 1] = id
  now.facts[#now.ids] = fact == '' and 'null' or fact
  now.has_facts = now.has_facts or fact ~= ''
end

-- The task has ended: out of what is alive, into what stays.
local function close(id, class, status, told_whom)
  ungranted[#ungranted + 1] = 'granted=' .. class .. '/' .. id
  ends = ends + 1
  index[ends * 2 - 1], index[ends * 2] = 0, 'status=' .. status .. '/' .. id
  if told_whom == '-' then return end
  for kind_and_time in string.gmatch(told_whom, '[^,]+') do append(told, 0, kind_and_time .. '/' .. book.tenant .. '/' .. id) end
end

local function complete(id, class, told_whom, fact, output, result)
  answered = answered + 1
  outputs[answered * 2 - 1], outputs[answered * 2] = id, output
  if result ~= '' then append(results, id, result) end
  close(id, class, 'completed', told_whom)
  note(id, 'task.completed', fact)
end

-- Returns whether others of its lane may go on.
local function move(id, token, class, told_whom, goes_on, more, attempt)
  local status, number, events, fact = string.match(more, '^(%S+) (%d+) (%S+) ?(.*)$')
  if attempt ~= '' then redis.call('HSET', KEYS[12], id .. ':' .. token, attempt) end
  for event in string.gmatch(events, '[^,]+') do note(id, event, fact) end
  if goes_on == 'end' then
    close(id, class, status, told_whom)
    return true
  end
  if goes_on == 'now' then
    owe_tickets(book, id .. '.' .. number)
    return false
  end
  wait_until_due(book, KEYS[14], id, number)
  ungranted[#ungranted + 1] = 'granted=' .. class .. '/' .. id
  redis.call('ZADD', book.live, 0, status .. '/' .. id)
  return goes_on == 'yield'
end

-- `state`: the task's, or false when it has none that could be ended.
local function settle(id, state)
  local token, limit, class, told_whom, how, more = string.match(next_arg(), '^(%d+) (%S+) (%S+) (%S+) (%S+) ?(.*)$')
  local seen = next_arg()
  local follows = how == 'completed' and 'c' .. string.sub(seen, 2) .. ' ' .. more or next_arg()
  local first, second = next_arg(), nil
  if how == 'completed' or how == 'answered' then second = next_arg() end
  local lane_limit = tonumber(limit)
  local held, wait = lane_limit and next_key(), lane_limit and next_key()
  -- This same call came before, and its answer was lost.
  if state == follows then return { 'settled' } end
  if state ~= seen then return changed(state, id, token) end
  local leaves = true
  if second then
    complete(id, class, told_whom, how == 'answered' and more or '', first, second)
  else
    leaves = move(id, token, class, told_whom, how, more, first)
  end
  -- Whoever looks at deadlines has no use for one of a task that has ended. A text that looks like one costs nothing more.
  if (second or how == 'end') and string.find(seen, '"deadline":', 1, true) then timed[#timed + 1] = book.tenant .. '/' .. id end
  -- A text that looks like one costs nothing more.
  local ran = leaves and string.find(seen, '"sharedLanes":', 1, true) and cjson.decode(seen) or {}
  if leaves and (lane_limit or ran.sharedLanes) then
    leave_lane(book, held, wait, id, {
      lane = lane_limit and true, laneLimit = lane_limit, sharedLanes = ran.sharedLanes, createdAt = ran.createdAt,
    })
  end
  -- Last: a server without memory refuses the first write above, and lets all others pass; then nothing may have happened.
  settlements = settlements + 1
  leases[settlements] = book.tenant .. '/' .. id .. '/' .. token
  states[settlements * 2 - 1], states[settlements * 2] = id, follows
  return { 'settled' }
end

local ids = {}
for id in string.gmatch(ARGV[2], '[^,]+') do ids[#ids + 1] = id end
local known, answers, settled = redis.call('HMGET', book.states, unpack(ids)), { {} }, {}
for position, id in ipairs(ids) do
  -- Once in a call: whoever comes second has lost.
  local answer = alone(settle, id, not settled[id] and known[position])
  if answer[1] == 'settled' then
    settled[id] = true
  else
    answers[#answers + 1] = position
    append(answers, answer[1], answer[2] or '')
  end
end
if #leases > 0 then
  redis.call('ZREM', KEYS[7], unpack(leases))
  -- Stops are rare.
  if redis.call('EXISTS', KEYS[8]) == 1 then redis.call('HDEL', KEYS[8], unpack(leases)) end
end
call_many('HSET', book.states, states)
call_many('HSET', KEYS[10], outputs)
call_many('HSET', KEYS[11], results)
write_grants(book)
if #ungranted > 0 then
  redis.call('ZREM', book.live, unpack(ungranted))
  promote_backlog(book)
end
if #index > 0 then redis.call('ZADD', book.index, unpack(index)) end
if #told > 0 then redis.call('ZADD', KEYS[9], unpack(told)) end
if #timed > 0 then redis.call('ZREM', KEYS[13], unpack(timed)) end
-- How an attempt ended comes before how its task did.
for _, event in ipairs({ 'task.failed', 'task.timeout', 'task.interrupted', 'task.completed', 'task.cancelled', 'task.permanently_failed' }) do
  local now = happened[event]
  if now then
    emit(book, table.concat(now.ids, ','), event, now.has_facts and '[' .. table.concat(now.facts, ',') .. ']' or nil)
  end
end
answers[1] = let_through(book)
return answers
