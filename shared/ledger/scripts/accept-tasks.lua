-- Accepts tasks of one tenant: idempotency, rates, lane, caps, record, lookups, outbox and event of each in one step.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] rates: the tenant's rates
-- KEYS[7] deadlines: the shard's deadlines
-- KEYS[8...] per task: its record; with a digest, the caller's key; with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps, waiting, rates
-- ARGV[2] remember: how long a caller's key is kept, ms
-- ARGV[3...] per task: id; digest of what the caller sent under its key, or empty; rate class; `lane` or empty; `plain` when
--   nothing can hold it back, or empty; body, JSON of what never changes; state, JSON of what does; number of lookups, and each
-- RETURNS {outbox entry, depth, per task: {'accepted', status, gate, ahead} | {'duplicate', id} | {'conflict', id} | {'rate', ms, scope} | {'waiting', count}
--   | {'failed', why}}
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
-- include: rates
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local next_key, next_arg = walk(KEYS, 8), walk(ARGV, 3)
local index, listed, owed, created, queued = {}, {}, {}, {}, {}

-- A task that waits, or might have to. Returns its answer.
local function admit(id, record, state, held, wait)
  local task = cjson.decode(state)
  task.createdAt, task.ticket = book.now, 0
  local is_due = not task.notBefore or task.notBefore <= book.now
  if is_due then task.notBefore = nil end
  local may_run = is_due and (not task.lane or lane_is_free(task, held, wait)) and has_room(book, task.class)
  if not may_run and book.waiting then
    local waiting = count(book, 'pending/')
    if waiting >= book.waiting then return { 'waiting', waiting } end
  end
  enter(book, task, 'pending')
  if task.deadline then redis.call('ZADD', KEYS[7], task.deadline, book.tenant .. '/' .. id) end
  if not is_due then
    task.gate, task.ticket = 'time', 1
    redis.call('ZADD', book.states, 0, 'pending/' .. id)
    owed[#owed + 1] = id .. '.1'
    save_task(book, record, id, task)
    return { 'accepted', 'pending', 'time', 0 }
  end
  if not join_lane(book, held, wait, id, task) then
    redis.call('ZADD', book.states, 0, 'pending/' .. id)
    park(book, record, id, task)
    return { 'accepted', 'pending', 'lane', redis.call('ZRANK', wait, id) + redis.call('ZCARD', held) }
  end
  if not has_room(book, task.class) then
    grant_or_backlog(book, id, task)
    return { 'accepted', 'pending', 'cap', count(book, 'pending/') - 1 }
  end
  enter(book, task, 'queued')
  task.granted, task.queuedAt, task.ticket = true, book.now, 1
  redis.call('ZADD', book.states, 0, granted_member(task, id))
  owed[#owed + 1], queued[#queued + 1] = id .. '.1', id
  save_task(book, record, id, task)
  return { 'accepted', 'queued', '', 0 }
end

local now = book.stamp
local plain_head = '{"status":"queued","granted":true,"ticket":1,"createdAt":' .. now .. ',"queuedAt":' .. now
  .. ',"log":"pending@' .. now .. ';queued@' .. now .. '",'

-- A task that nothing can hold back: no lane, no time, no caps. The same as above without reading what it is. Its state
-- holds its class as the first field.
local function admit_plain(id, record, state)
  redis.call('HSET', record, 'state', plain_head .. string.sub(state, 2))
  listed[#listed + 1] = 0
  listed[#listed + 1] = 'granted=' .. string.sub(state, 11, 12) .. '/' .. id
  owed[#owed + 1], queued[#queued + 1] = id .. '.1', id
  return { 'accepted', 'queued', '', 0 }
end

local function accept(id, record, digest, rate_class, has_lane, is_plain)
  local known_key = digest ~= '' and next_key() or nil
  local held = has_lane and next_key() or nil
  local wait = has_lane and next_key() or nil
  local body, state, lookups = next_arg(), next_arg(), {}
  for position = 1, tonumber(next_arg()) do lookups[position] = next_arg() end
  local known = known_key and redis.call('GET', known_key)
  if known then
    local first, known_digest = string.match(known, '^(%S+) (.*)$')
    return { known_digest == digest and 'duplicate' or 'conflict', first }
  end
  -- The client sends a call again when the reply was lost; its id tells. Before the limits, some of which it used up itself.
  if redis.call('HSETNX', record, 'body', body) == 0 then return { 'duplicate', id } end
  local after, rate_writes = check_rates(book, book.rates, rate_class, KEYS[6])
  if after > 0 then
    redis.call('DEL', record)
    return { 'rate', math.ceil(after), rate_writes }
  end
  local answer = is_plain and admit_plain(id, record, state) or admit(id, record, state, held, wait)
  if answer[1] ~= 'accepted' then
    redis.call('DEL', record)
    return answer
  end
  if known_key then redis.call('SET', known_key, id .. ' ' .. digest, 'PX', ARGV[2]) end
  if #rate_writes > 0 then redis.call('HSET', KEYS[6], unpack(rate_writes)) end
  for _, lookup in ipairs(lookups) do
    index[#index + 1] = 0
    index[#index + 1] = lookup .. '/' .. id
  end
  created[#created + 1] = id
  return answer
end

local answers = { '', 0 }
local id = next_arg()
while id do
  local digest, rate_class, lane, plain = next_arg(), next_arg(), next_arg(), next_arg()
  local record = next_key()
  local answer = alone(accept, id, record, digest, rate_class, lane ~= '', plain ~= '')
  if answer[1] == 'failed' then redis.call('DEL', record) end
  answers[#answers + 1] = answer
  id = next_arg()
end
if #index > 0 then redis.call('ZADD', book.index, unpack(index)) end
if #listed > 0 then redis.call('ZADD', book.states, unpack(listed)) end
if #owed > 0 then
  answers[1] = table.concat(owed, ',')
  owe_tickets(book, answers[1])
end
if #created > 0 then emit(book, table.concat(created, ','), 'task.created') end
if #queued > 0 then emit(book, table.concat(queued, ','), 'task.queued') end
answers[2] = redis.call('ZCARD', book.states)
return answers
