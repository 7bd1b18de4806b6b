-- Gives the bearers of tickets of one tenant their tasks to run, each under a new token and a lease, when it may run now.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] leases: the shard's running attempts
-- KEYS[8] deadlines: the shard's deadlines
-- KEYS[9] ended: the shard's ends to tell
-- KEYS[10] due: the shard's tasks that wait for a time
-- KEYS[11...] per task: with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps, isolation (`own` or `shared`: the process holds suspects only; `offered` or
--   `full`: whether the worker has such a process to offer), suspectWaitMs
-- ARGV[2] worker: who claims
-- ARGV[3] lease: ms
-- ARGV[4] lanes: `1` or `0` for each task, whether it has a lane
-- ARGV[5...] per task: id
-- RETURNS granted, and per task two more: 'claimed', state | 'lane', the one it has, when the caller knew of none
--   | 'suspect', how many processes were lost under it | 'parked' or 'busy' or 'ended' or 'unknown', '' | 'failed', why;
--   granted: id, state and body, or empty, of each other task let through. Bodies never change: the caller reads them by itself
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: due
-- include: shared-lanes
-- include: lanes
-- include: endings
-- include: senders
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local next_key, next_arg = walk(KEYS, 11), walk(ARGV, 5)
local worker, lease_ends = ARGV[2], book.now + ARGV[3]
local leases, started, states, count = {}, {}, {}, 0
local facts, has_facts = {}, false
-- Messages that are looked at for the newest of a turn.
local COLLECT_MOST = 100

-- When a turn of collected messages may begin: once the newest is old enough, or its lane has been free long enough.
local function due_after_debounce(book, keys, id, task)
  local newest = task.createdAt
  local line = redis.call('ZRANGE', keys.wait, 0, COLLECT_MOST - 1)
  for _, state in ipairs(#line > 0 and redis.call('HMGET', book.states, unpack(line)) or {}) do
    local other = state and string.find(state, '"collect":{', 1, true) and cjson.decode(state)
    if not other or other.agent ~= task.agent or not same_sender(other, task) then break end
    newest = math.max(newest, other.createdAt)
  end
  local free_since = tonumber(redis.call('ZSCORE', keys.held, id) or book.now)
  return math.min(newest + task.collect.debounceMs, free_since + task.collect.longestWaitMs)
end

-- Why the task may not run now, or nil.
local function hold_back(id, keys, task)
  if task.status == 'running' or task.status == 'scheduled' then return { 'busy' } end
  if task.completedAt then return { 'ended' } end
  if task.lane and not keys.held then return { 'lane', task.lane } end
  if task.notBefore and (task.notBefore > book.now or not task.granted) then
    wait_until_due(book, keys.due, id, task.notBefore)
    return { 'parked' }
  end
  if task.deadline and task.deadline <= book.now and task.token == 0 then
    expire(book, keys, id, task)
    return { 'ended' }
  end
  if not task.granted then return { 'parked' } end
  local quiet_at = task.collect and task.token == 0 and due_after_debounce(book, keys, id, task) or 0
  if quiet_at > book.now then
    task.gate, task.notBefore = 'debounce', quiet_at
    save_task(book, id, task)
    wait_until_due(book, keys.due, id, quiet_at)
    return { 'parked' }
  end
  if task.losses and book.isolation == 'offered' then return { 'suspect', task.losses } end
  if task.losses and book.isolation == 'full' then
    put_off(book, keys.due, id, task, 'suspect', book.now + book.suspectWaitMs)
    promote_backlog(book)
    return { 'parked' }
  end
  return nil
end

local HAS_LANE = string.byte('1')
local begins = ' ' .. book.stamp .. ' ' .. worker
local has_spaces = string.find(worker, '%s') ~= nil

-- Gives the worker a task whose next state is known.
local function start(id, token, state, attempt)
  count = count + 1
  started[count], facts[count] = id, 'null'
  if attempt > 1 then
    facts[count], has_facts = '{"attempt":' .. attempt .. '}', true
  end
  states[count * 2 - 1], states[count * 2] = id, state
  leases[count * 2 - 1], leases[count * 2] = lease_ends, book.tenant .. '/' .. id .. '/' .. token
end

-- Claims a task that may have to wait, or that others did something to. Returns its answer.
local function claim_any(id, keys, text)
  local task = read_state(text, book.bodies, id)
  local answer = hold_back(id, keys, task)
  if answer then return answer end

  if task.notBefore then redis.call('ZREM', keys.due, book.tenant .. '/' .. id) end
  if task.status ~= 'queued' then enter(book, task, 'queued') end
  enter(book, task, 'scheduled', worker)
  enter(book, task, 'running')
  task.queuedAt = task.queuedAt or book.now
  task.scheduledAt, task.startedAt = book.now, book.now
  task.gate, task.notBefore, task.granted, task.worker, task.error = nil, nil, true, worker, nil
  task.token, task.spent = task.token + 1, task.spent + 1
  task.isolation = task.losses and book.isolation
  task.attempt = (task.earlier or 0) + task.spent
  local state = cjson.encode(task)
  start(id, task.token, state, task.attempt)
  return { 'claimed', state }
end

local function claim(id, keys, text)
  if not text then return { 'unknown' } end
  if string.byte(text) ~= QUEUED or has_spaces then return claim_any(id, keys, text) end
  local state = 'r' .. string.sub(text, 2) .. begins
  start(id, 1, state, 1)
  return { 'claimed', state }
end

local known = redis.call('HMGET', book.states, unpack(ARGV, 5))
local answers, claimed = { {} }, {}
local of_none = { deadlines = KEYS[8], ended = KEYS[9], due = KEYS[10] }
for position, text in ipairs(known) do
  local id, keys = next_arg(), of_none
  if string.byte(ARGV[4], position) == HAS_LANE then
    keys = { deadlines = KEYS[8], ended = KEYS[9], due = KEYS[10], held = next_key(), wait = next_key() }
  end
  -- What was known of it is old once another of the call touched it.
  if claimed[id] ~= nil then text = redis.call('HGET', book.states, id) end
  local answer = claimed[id] and { 'busy' } or alone(claim, id, keys, text)
  claimed[id] = answer[1] == 'claimed'
  answers[position * 2], answers[position * 2 + 1] = answer[1], answer[2] or ''
end
call_many('HSET', book.states, states)
if #leases > 0 then
  redis.call('ZADD', KEYS[7], unpack(leases))
  emit(book, table.concat(started, ','), 'task.started', has_facts and '[' .. table.concat(facts, ',') .. ']' or nil)
end
answers[1] = let_through(book)
return answers
