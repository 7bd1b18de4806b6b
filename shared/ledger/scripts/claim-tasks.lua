-- Claims tasks of one tenant for the bearer of their tickets, each under a new token and a lease, when it may run now.
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
-- KEYS[11] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[12] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[13] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[14] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[15] pauses: hash, BullMQ's own of `queue`; not read without
-- KEYS[16...] per task: with a lane, its holders and its line
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, suspectWaitMs (of one without a process, at least), and isolation:
--   `own`, `shared`: the process holds suspects only; `offered`, `full`: whether the worker has such a process to offer;
--   entries: of the tickets in the outbox, by task, when slots took them from the ready ones;
--   direct: whether slots take what is ready, so that the windows need not be filled;
--   queue: of tickets from BullMQ, when their slots take what is ready instead of a worse ticket;
--   daemon: id of the daemon that runs them for this worker, a hub
-- ARGV[2] worker: text, its name
-- ARGV[3] lease: int, ms
-- ARGV[4] lanes: text, a digit per task: `1` with a lane, else `0`
-- ARGV[5...] per task: one ticket
--   id: text, the task's id
-- RETURNS tickets, and two more per task: 'claimed', state | 'lane', its lane, which the caller did not know
--   | 'overtaken', '': a better ticket is ready | 'suspect', how many processes were lost under it
--   | 'parked' | 'busy' | 'ended' | 'unknown', '' | 'failed', reason;
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ. The caller reads the bodies, which never change
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
-- include: lane-limits
-- include: shared-lanes
-- include: lanes
-- include: finish
-- include: begin-attempt
-- include: start-attempt
-- include: overtaken
-- include: iterate
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local next_key, next_arg = iterate(KEYS, 16), iterate(ARGV, 5)
local worker, lease_ends = ARGV[2], string.format('%d', context.now + ARGV[3])
local leases, started, states, count = {}, {}, {}, 0
local facts, has_facts = {}, false
-- Messages that are read for the newest of a turn.
local MAX_COLLECTED = 100

-- When a turn of collected messages may begin: once the newest is old enough, or its lane has been free long enough.
local function due_after_debounce(context, keys, id, task)
  local newest = task.createdAt
  local line = redis.call('ZRANGE', keys.wait, 0, MAX_COLLECTED - 1)
  for _, text in ipairs(#line > 0 and redis.call('HMGET', context.states, unpack(line)) or {}) do
    local other = text and full_state(text)
    if not other or not other.collect or other.agent ~= task.agent or not same_sender(other, task) then break end
    newest = math.max(newest, other.createdAt)
  end
  local free_since = tonumber(redis.call('ZSCORE', keys.held, id) or context.now)
  return math.min(newest + task.collect.debounceMs, free_since + task.collect.longestWaitMs)
end

-- When a suspect without a process comes back: spread over as long again as it waits, so that the processes that have room by then get some
-- of those that were parked together, and not all of them at once.
local function suspect_returns_at(context, id)
  local spread = tonumber(string.sub(redis.sha1hex(id .. ' ' .. context.now), 1, 8), 16) / 2 ^ 32
  return context.now + math.floor(context.suspectWaitMs * (1 + spread))
end

-- Why the task may not run now, as its answer, or nil.
local function hold_back(id, keys, task)
  if task.status == 'running' or task.status == 'scheduled' then return { 'busy' } end
  if task.completedAt then return { 'ended' } end
  if task.lane and not keys.held then return { 'lane', task.lane } end
  if task.notBefore and (task.notBefore > context.now or not task.granted) then
    schedule_due(context, keys.due, id, task.notBefore)
    return { 'parked' }
  end
  if task.deadline and task.deadline <= context.now and task.token == 0 then
    expire(context, keys, id, task)
    return { 'ended' }
  end
  if not task.granted then return { 'parked' } end
  local quiet_at = task.collect and task.token == 0 and due_after_debounce(context, keys, id, task) or 0
  if quiet_at > context.now then
    task.gate, task.notBefore = 'debounce', quiet_at
    save_task(context, id, task)
    schedule_due(context, keys.due, id, quiet_at)
    return { 'parked' }
  end
  if task.losses and context.isolation == 'offered' then return { 'suspect', task.losses } end
  if task.losses and context.isolation == 'full' then
    park_until(context, keys.due, id, task, 'suspect', suspect_returns_at(context, id))
    promote_backlog(context)
    return { 'parked' }
  end
  if not adopt_agent_lane(context, id, task) then
    unlist(context, id, task)
    task.granted = nil
    redis.call('ZADD', context.live, '0', task.status .. '/' .. id)
    save_task(context, id, task)
    promote_backlog(context)
    return { 'parked' }
  end
  return nil
end

local HAS_LANE = string.byte('1')
local has_spaces = string.find(worker, '%s') ~= nil

-- Starts a task whose next state is known.
local function start(id, token, state, attempt)
  count = count + 1
  started[count], facts[count] = id, start_fact(attempt) or 'null'
  has_facts = has_facts or attempt > 1
  states[count * 2 - 1], states[count * 2] = id, state
  leases[count * 2 - 1], leases[count * 2] = lease_ends, shard_member(context, id) .. '/' .. token
end

-- Claims a task that may have to wait, or whose life is not ordinary. Returns its answer.
local function claim_any(id, keys, text)
  local task = read_state(text, context.bodies, id)
  local answer = hold_back(id, keys, task)
  if answer then return answer end

  if task.notBefore then redis.call('ZREM', keys.due, shard_member(context, id)) end
  -- An older release may have granted it.
  end_hold(context, id, task)
  start_attempt(context, task, worker)
  local state = cjson.encode(task)
  start(id, task.token, state, task.attempt)
  return { 'claimed', state }
end

local function claim(id, keys, text)
  if not text then return { 'unknown' } end
  -- A short state does not say whether the task has the lane of its agent, when its deadline is, nor which daemon runs it.
  if string.byte(text) ~= QUEUED or has_spaces or context.agentLanes or context.daemon or is_late(context, keys.deadlines, id) then
    return claim_any(id, keys, text)
  end
  local state = start_short(context, text, worker)
  start(id, 1, state, 1)
  return { 'claimed', state }
end

local known = redis.call('HMGET', context.states, unpack(ARGV, 5))
local answers, claimed, used, entries = { {} }, {}, {}, {}
local without_lane = { deadlines = KEYS[12], ended = KEYS[13], due = KEYS[14] }
local overtaken = find_overtaken(context, { unpack(ARGV, 5) }, KEYS[15])
for position, text in ipairs(known) do
  local id, keys = next_arg(), without_lane
  if string.byte(ARGV[4], position) == HAS_LANE then
    keys = { deadlines = KEYS[12], ended = KEYS[13], due = KEYS[14], held = next_key(), wait = next_key() }
  end
  -- What was read before is old once this call has changed the task.
  if claimed[id] ~= nil then text = redis.call('HGET', context.states, id) end
  local answer = overtaken[id] and { 'overtaken' } or claimed[id] and { 'busy' } or isolate(claim, id, keys, text)
  claimed[id] = answer[1] == 'claimed'
  if answer[1] ~= 'lane' and answer[1] ~= 'failed' and answer[1] ~= 'overtaken' then
    used[#used + 1] = id
    -- A suspect's entry stays until the process for suspects claims the task: this one may die before that.
    if context.entries and answer[1] ~= 'suspect' then entries[#entries + 1] = context.entries[position] end
  end
  answers[position * 2], answers[position * 2 + 1] = answer[1], answer[2] or ''
end
call_many('HSET', context.states, states)
if #leases > 0 then
  write_shared(context, 'ZADD', KEYS[11], leases)
  local event = context.daemon and TRANSITIONS.queued.scheduled or TRANSITIONS.scheduled.running
  emit(context, table.concat(started, ','), event, has_facts and '[' .. table.concat(facts, ',') .. ']' or nil)
end
if context.entries then
  write_shared(context, 'ZREM', context.outbox, entries)
  context.shard.has_room = not context.direct
else
  local has_room = context.shard.has_room
  use_tickets(context, used)
  -- Better tickets need not be in BullMQ for slots that take them instead of worse ones.
  if context.queue then context.shard.has_room = has_room end
end
answers[1] = publish_granted(context)
return answers
