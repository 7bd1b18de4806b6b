-- Moves tasks of one tenant that a slot got and could not start to where they belong: to an end, to their time, their lanes or their line.
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
-- KEYS[11] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[12] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[13] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[14...] per task: with a lane, its holders and its line
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, suspectWaitMs (of one without a process, at least), and isolation:
--   `full`: its worker has no process for suspects now
-- ARGV[2] lanes: text, a digit per task: `1` with a lane, else `0`
-- ARGV[3...] per task: one that a slot got
--   id: text, the task's id
-- RETURNS tickets, and two more per task: 'ready', '' (it stands at `slot`) | 'lane', its lane, which the caller did not know
--   | 'suspect', how many processes were lost under it | 'parked' | 'busy' | 'ended' | 'unknown', '' | 'failed', reason;
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
-- include: debounce
-- include: iterate
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[13]
local next_key, next_arg = iterate(KEYS, 14), iterate(ARGV, 3)
local HAS_LANE = string.byte('1')

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
    schedule_due(context, id, task.notBefore, task.status)
    return { 'parked' }
  end
  if task.deadline and task.deadline <= context.now and task.token == 0 then
    expire(context, keys, id, task)
    return { 'ended' }
  end
  if not task.granted then return { 'parked' } end
  local quiet_at = task.collect and task.token == 0 and due_after_debounce(context, keys, id, task) or 0
  if quiet_at > context.now then
    task.notBefore = quiet_at
    gates.wait_at(context, id, task, 'debounce')
    save_task(context, id, task)
    return { 'parked' }
  end
  if task.losses and context.isolation == 'offered' then return { 'suspect', task.losses } end
  if task.losses and context.isolation == 'full' then
    gates.give_up(context, id, task)
    task.notBefore = suspect_returns_at(context, id)
    gates.wait_at(context, id, task, 'suspect')
    save_task(context, id, task)
    return { 'parked' }
  end
  if not gates.adopt(context, id, task) then
    save_task(context, id, task)
    return { 'parked' }
  end
  return nil
end

-- It stands at `slot` again, under its next ticket: that of the slot is used up.
local function stand_again(id, task)
  task.ticket = task.ticket + 1
  save_task(context, id, task)
  give_ticket(context, id, task)
end

local function review(id, keys, text)
  if not text then return { 'unknown' } end
  local task = read_state(text, context.bodies, id)
  if task.status ~= 'running' and not task.completedAt then withdraw_ticket(context, id, task) end
  local answer = hold_back(id, keys, task)
  if answer then return answer end
  if task.notBefore then redis.call('ZREM', context.due, shard_member(context, id)) end
  gates.pass(context, id, task)
  stand_again(id, task)
  return { 'ready' }
end

local known, answers = redis.call('HMGET', context.states, unpack(ARGV, 3)), { {} }
for position, text in ipairs(known) do
  local id, keys = next_arg(), { deadlines = KEYS[11], ended = KEYS[12] }
  if string.byte(ARGV[2], position) == HAS_LANE then keys.held, keys.wait = next_key(), next_key() end
  local answer = isolate(review, id, keys, text)
  answers[position * 2], answers[position * 2 + 1] = answer[1], answer[2] or ''
end
answers[1] = publish_granted(context)
return answers
