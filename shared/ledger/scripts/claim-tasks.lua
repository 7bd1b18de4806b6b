-- Gives the bearers of tickets of one tenant their tasks to run, each under a new token and a lease, when it may run now.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] leases: the shard's running attempts
-- KEYS[7] deadlines: the shard's deadlines
-- KEYS[8] ended: the shard's ends to tell
-- KEYS[9...] per task: its record; with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] worker: who claims
-- ARGV[3] lease: ms
-- ARGV[4] most: attempts running at once in the shard
-- ARGV[5...] per task: id; `lane` or empty
-- RETURNS {granted, per task: {'claimed', body, state} | {'early', due ms} | {'lane', the one it has, when the caller knew of none}
--   | {'full' | 'parked' | 'busy' | 'ended' | 'unknown'} | {'failed', why}};
--   granted: ids and states of other tasks let through, in turn
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
-- include: endings
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local next_key, next_arg = walk(KEYS, 9), walk(ARGV, 5)
local worker, lease_ends = ARGV[2], book.now + ARGV[3]
local running = redis.call('ZCARD', KEYS[6])
local leases, started, unparked = {}, {}, {}
-- Messages that are looked at for the newest of a turn.
local COLLECT_MOST = 100

-- When a turn of collected messages may begin: once the newest is old enough, or its lane has been free long enough.
local function due_after_debounce(book, keys, id, task)
  local newest = task.createdAt
  local line = redis.call('ZRANGE', keys.wait, 0, COLLECT_MOST - 1)
  for _, state in ipairs(#line > 0 and redis.call('HMGET', book.parked, unpack(line)) or {}) do
    local other = state and string.find(state, '"collect":{', 1, true) and cjson.decode(state)
    if not other or other.agent ~= task.agent then break end
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
  if task.notBefore and task.notBefore > book.now then return { 'early', task.notBefore } end
  if task.deadline and task.deadline <= book.now and task.token == 0 then
    local reason = 'the deadline passed before the start'
    task.outcome = { kind = 'expired', reason = reason }
    finish(book, keys, id, task, 'stale', reason)
    emit(book, id, 'task.stale')
    return { 'ended' }
  end
  if not task.granted then
    if task.gate == 'lane' or task.gate == 'steer' or task.gate == 'cap' then return { 'parked' } end
    local not_before = task.notBefore
    task.notBefore = nil -- From here on it waits for something else, and without a ticket.
    if not join_lane(book, keys.held, keys.wait, id, task) then
      park(book, keys.record, id, task)
      return { 'parked' }
    end
    if not has_room(book, task.class) then
      redis.call('HDEL', keys.record, 'state')
      wait_in_backlog(book, id, task)
      return { 'parked' }
    end
    task.notBefore = not_before
  end
  local quiet_at = task.collect and task.token == 0 and due_after_debounce(book, keys, id, task) or 0
  if quiet_at > book.now then
    task.gate, task.notBefore = 'debounce', quiet_at
    save_task(book, keys.record, id, task)
    return { 'early', quiet_at }
  end
  if running >= tonumber(ARGV[4]) then
    task.gate = 'fleet'
    save_task(book, keys.record, id, task)
    return { 'full' }
  end
  return nil
end

local function claim(id, keys)
  local stored = redis.call('HMGET', keys.record, 'body', 'state')
  local body, state = stored[1], stored[2] or redis.call('HGET', book.parked, id)
  if not body or not state then return { 'unknown' } end
  local task = cjson.decode(state)
  local answer = hold_back(id, keys, task)
  if answer then return answer end

  if not task.granted then
    unlist(book, id, task)
    redis.call('ZADD', book.states, 0, granted_member(task, id))
  end
  if task.status ~= 'queued' then enter(book, task, 'queued') end
  enter(book, task, 'scheduled', worker)
  enter(book, task, 'running')
  if task.parked then unparked[#unparked + 1], task.parked = id, nil end
  task.queuedAt = task.queuedAt or book.now
  task.scheduledAt, task.startedAt = book.now, book.now
  task.gate, task.notBefore, task.granted, task.worker, task.error = nil, nil, true, worker, nil
  task.token, task.spent = task.token + 1, task.spent + 1
  task.attempt = task.spent
  local saved = cjson.encode(task)
  redis.call('HSET', keys.record, 'state', saved)
  running = running + 1
  leases[#leases + 1] = lease_ends
  leases[#leases + 1] = book.tenant .. '/' .. id .. '/' .. task.token
  started[#started + 1] = id
  return { 'claimed', body, saved }
end

local answers = { {} }
local id = next_arg()
while id do
  local has_lane = next_arg() ~= ''
  local keys = { record = next_key(), deadlines = KEYS[7], ended = KEYS[8] }
  if has_lane then keys.held, keys.wait = next_key(), next_key() end
  answers[#answers + 1] = alone(claim, id, keys)
  id = next_arg()
end
call_many('HDEL', book.parked, unparked)
if #leases > 0 then
  redis.call('ZADD', KEYS[6], unpack(leases))
  emit(book, table.concat(started, ','), 'task.started')
end
answers[1] = let_through(book)
return answers
