-- Promotes tasks of one tenant whose time has come, that are held no more, or whose run got what it waits for: into their lane, and to a ticket
-- when the caps have room.
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
-- KEYS[11] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[12] waits: zset, suspended runs of the shard whose wait nobody has seen to, by ms
-- KEYS[13...] per task: with a lane, its holders and its line; with `answer` and an event, the journal of its run; before them with an event, that
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] lanes: text, a digit per task: `1` with a lane, else `0`
-- ARGV[3] force: `1` to promote before the time, or the id of the action that does it, once a task; `hold` to promote what is held; `answer` to
--   answer runs, which resumes suspended ones, `event:<id>` to do so by an event, once a run, and once in all where it is for one; `yield` to have suspended runs leave
--   their lanes; else `0`
-- ARGV[4...] per task: one due or held task
--   id: text, the task's id; with `hold`, its member in the live lookups
--   entry, text, fact: with `answer` and an event: the number of the entry that it waits at, what that becomes, JSON, and what the event of its
--     resumption says besides, JSON
-- RETURNS tickets, and two more per task: 'promoted' | 'answered' (its run was not suspended) | 'early', due ms | 'lane', its lane, which the
--   caller did not know | 'gone' | 'failed', reason;
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
-- include: iterate
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[11]
local next_key, next_arg = iterate(KEYS, 13), iterate(ARGV, 4)
local HAS_LANE = string.byte('1')
local resumed, facts = {}, {}
local event_id = string.match(ARGV[3], '^event:(.+)$')
local event = event_id and next_key()
local releases, answers_runs, yields = ARGV[3] == 'hold', event or ARGV[3] == 'answer', ARGV[3] == 'yield'
local action = not releases and not answers_runs and not yields and ARGV[3] ~= '0' and ARGV[3] ~= '1' and ARGV[3]

-- A task that kept its grant while it waited, as a turn that collects messages does, needs its next ticket only.
local function reissue(id, task)
  task.gate, task.notBefore, task.ticket = nil, nil, task.ticket + 1
  give_ticket(context, id, task)
  save_task(context, id, task)
end

-- A task that its repeated input held, and whose time is still to come, waits for that.
local function wait_for_time(id, task)
  local at = task.notBefore
  gates.pass(context, id, task)
  task.notBefore = at
  gates.wait_at(context, id, task, 'time')
  save_task(context, id, task)
end

-- Has a suspended run wait in the queue as any task does.
local function wake(id, task, fact)
  redis.call('ZREM', context.live, 'suspended/' .. id)
  redis.call('ZREM', KEYS[12], shard_member(context, id) .. '/' .. task.suspended.entry)
  task.suspended = nil
  resumed[#resumed + 1] = id
  facts[#resumed] = fact or 'null'
  enter(context, task, 'queued')
end

-- Whether a suspended run goes on now: at its time. Before that, others of its lane may go before it once it has held that for long enough.
local function is_awake(id, task, keys)
  local wait = task.suspended
  if wait['until'] and wait['until'] <= context.now then return true end
  if wait.laneUntil and (yields or wait.laneUntil <= context.now) then
    leave_own_lane(context, keys.held, keys.wait, id, task)
    wait.laneUntil = nil
  end
  task.notBefore = wait['until']
  if wait.laneUntil then task.notBefore = math.min(wait.laneUntil, task.notBefore or wait.laneUntil) end
  redis.call('ZREM', context.due, shard_member(context, id))
  if task.notBefore then schedule_due(context, id, task.notBefore, task.status) end
  save_task(context, id, task)
  return false
end

-- Whether a run takes the event: not twice, and none that is gone, or for one run and taken.
local function take_event(journal)
  local deliver, taken = unpack(redis.call('HMGET', event, 'deliver', 'taken'))
  if not deliver or deliver == 'one' and taken then return false end
  if redis.call('HSETNX', journal, ARGV[3], '1') == 0 then return false end
  redis.call('HINCRBY', event, 'taken', 1)
  return true
end

-- Writes what a run waits for into its journal. Returns whether it did.
local function give_answer(waits, keys)
  if not waits or waits.entry ~= tonumber(keys.entry) then return false end
  if event and not take_event(keys.journal) then return false end
  redis.call('HSET', keys.journal, keys.entry, keys.text)
  redis.call('HINCRBY', keys.journal, 'done', 1)
  return true
end

-- Answers a run that was not suspended for what it asks: its program waits for that, or its next attempt finds it.
local function answer_running(id, task, keys)
  if task.completedAt or not give_answer(task.asking, keys) then return { 'gone' } end
  redis.call('ZREM', KEYS[12], shard_member(context, id) .. '/' .. task.asking.entry)
  close_question(context, id, task)
  save_task(context, id, task)
  emit(context, id, 'task.answered', '[' .. (keys.fact or 'null') .. ']')
  return { 'answered' }
end

-- Whether the task waits for a time or is held.
local function is_parked(task)
  return task and not task.completedAt and task.status ~= 'running' and (task.notBefore or task.hold)
end

-- `name`: the task's id, or its member in the live lookups.
local function promote(name, keys)
  local id = id_of(name)
  local task = load_task(context, id)
  if releases and not (is_parked(task) and task.hold and hold_member(task, id) == name) then
    -- An older release may have left it.
    redis.call('ZREM', context.live, name)
    return { 'gone' }
  end
  if answers_runs and not event and task and task.status ~= 'suspended' then return answer_running(id, task, keys) end
  if answers_runs and task and task.lane and not keys.held then return { 'lane', task.lane } end
  if answers_runs and not (task and give_answer(task.suspended, keys)) then return { 'gone' } end
  if yields and (not task or task.status ~= 'suspended') then return { 'gone' } end
  if not is_parked(task) then
    redis.call('ZREM', context.due, shard_member(context, id))
    return { 'gone' }
  end
  -- Its time, an answer or an event resumes it.
  if action and task.status == 'suspended' then return { 'early', task.notBefore } end
  if action and task.retriedBy == action then return { 'early', task.notBefore } end
  if action then task.retriedBy = action end
  if ARGV[3] == '0' and (not task.notBefore or task.notBefore > context.now) then
    if task.notBefore then schedule_due(context, id, task.notBefore, task.status) end
    return { 'early', task.notBefore }
  end
  if releases and task.hold.gate == 'repeats' and task.notBefore and task.notBefore > context.now then
    wait_for_time(id, task)
    return { 'promoted' }
  end
  if task.lane and not keys.held then return { 'lane', task.lane } end
  if task.status == 'suspended' and not answers_runs and not releases and not is_awake(id, task, keys) then return { 'early', task.notBefore } end
  -- What comes of a person's retry is no repetition of what came before it: the timeline has it.
  if ARGV[3] == '1' then task.turnedBack = nil end
  -- A person has seen to what interrupts it.
  if task.hold and task.hold.gate == 'interruptions' then task.interruptions = nil end
  if task.granted then
    reissue(id, task)
  else
    gates.pass(context, id, task)
    if task.status == 'suspended' then wake(id, task, keys.fact) end
    if gates.enter(context, keys, id, task) then
      grant(context, id, task)
    else
      save_task(context, id, task)
    end
  end
  redis.call('ZREM', context.due, shard_member(context, id))
  return { 'promoted' }
end

local answers, position, id = { {} }, 1, next_arg()
while id do
  local keys = string.byte(ARGV[2], position) == HAS_LANE and { held = next_key(), wait = next_key() } or {}
  if answers_runs then keys.entry, keys.text, keys.fact = next_arg(3) end
  if answers_runs then keys.journal = next_key() end
  local answer = isolate(promote, id, keys)
  append(answers, answer[1], answer[2] or '')
  position, id = position + 1, next_arg()
end
if #resumed > 0 then emit(context, table.concat(resumed, ','), TRANSITIONS.suspended.queued, '[' .. table.concat(facts, ',') .. ']') end
answers[1] = publish_granted(context)
return answers
