-- Makes room for critical tasks that wait for shared lanes or at their tenant's caps, for each by one low task. A task that does not run
-- loses its place at once; else the worker of a running one is signalled, the lowest first and of these the youngest.
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
-- KEYS[11] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[12] preempted: hash, the task of each of the shard's tenants that was preempted last
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2] rules: JSON, maxPerTask, maxRead (tasks of a kind) and lowTo, the best priority that makes room
-- RETURNS tickets, and three more per task that makes room: its id, the critical task, and 'displaced' | 'preempted';
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
-- include: preemption
-- include: choose-low
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local rules = cjson.decode(ARGV[2])
rules.last_preempted = redis.call('HGET', KEYS[12], context.tenant)

-- Whether a running task makes room for this one already.
local function is_served(id, task)
  local other = task.preempts and load_task(context, task.preempts)
  return other and other.status == 'running' and is_preempted(other) and other.preempt.by == id
end

local function add_critical(found, member)
  local id = id_of(member)
  local task = not found[id] and load_task(context, id)
  if not task or task.completedAt or task.queue ~= 'critical' or is_served(id, task) then return end
  found[id] = true
  found[#found + 1] = { id = id, task = task }
end

local function by_id(one, other) return one.id < other.id end

-- Critical tasks that wait at a cap without a task that makes room, the oldest first.
local function find_at_caps()
  local found = {}
  for _, letter in ipairs(CLASSES) do
    local prefix = 'backlog=' .. letter .. '1/00/'
    for _, member in ipairs(members_from(context, prefix, rules.maxRead)) do add_critical(found, member) end
  end
  table.sort(found, by_id)
  return found
end

-- The same in the lines of shared lanes, which begin with them.
local function find_in_lines()
  local found = {}
  for _, lane in ipairs(gates.lanes_with_line(context)) do
    local prefix = 'waits=' .. lane.name .. '/' .. CRITICAL
    if string.sub(lane.first, 1, #prefix) == prefix then
      for _, member in ipairs(members_from(context, prefix, rules.maxRead)) do add_critical(found, member) end
    end
  end
  table.sort(found, by_id)
  return found
end

-- Signals the worker of a running task. The message makes it quick; the lease renewal makes it sure.
local function preempt(id, task, critical, is_for_lanes)
  local member, by = shard_member(context, id) .. '/' .. task.token, critical.id
  task.preempt = { token = task.token, by = by, at = context.now, isForLanes = is_for_lanes }
  save_task(context, id, task)
  redis.call('HSET', KEYS[11], preempt_signal(member), cjson.encode({ kind = 'preempt', reason = 'preempted by task ' .. by, by = by }))
  redis.call('HSET', KEYS[12], context.tenant, id)
  redis.call('PUBLISH', context.workers, 'preempt ' .. member)
  rules.last_preempted = id
  critical.task.preempts = id
  gates.keep_for(context, by, critical.task)
end

local answers = { {} }

-- Has the chosen task make room for a critical one: at once when it does not run.
local function make_room(chosen, critical, is_for_lanes)
  if not chosen then return end
  local id, task = chosen.id, chosen.task
  append(answers, id, critical.id)
  answers[#answers + 1] = task.status == 'running' and 'preempted' or 'displaced'
  if task.status == 'running' then
    preempt(id, task, critical, is_for_lanes)
  else
    add_note(context, task, 'made room for the critical task ' .. critical.id)
    -- A ticket of it may still come, and finds it parked.
    gates.return_to_line(context, id, task)
  end
end

for _, critical in ipairs(find_in_lines()) do
  make_room(choose_holder(context, rules, critical.task), critical, true)
  grant_critical(context, critical.id)
end
-- One that has its lanes now may meet a cap.
gates.open(context)
for _, critical in ipairs(context.caps and find_at_caps() or {}) do
  if not has_room(context, critical.task.class) then
    make_room(choose_granted(context, rules, critical.task.class), critical)
  end
  grant_critical(context, critical.id)
end
gates.open(context)
answers[1] = publish_granted(context)
return answers
