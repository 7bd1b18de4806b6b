-- Makes room for critical tasks that wait at their tenant's caps, for each by one low task. One that waits for a worker returns to the
-- backlog at once; else the worker of a running one is signalled, the lowest first and of these the youngest.
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
-- include: window
-- include: turns
-- include: dispatch
-- include: grants
-- include: preemption
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local rules = cjson.decode(ARGV[2])
local last_preempted = redis.call('HGET', KEYS[12], context.tenant)

-- Whether a running task makes room for this one already.
local function is_served(id, task)
  local other = task.preempts and load_task(context, task.preempts)
  return other and other.status == 'running' and is_preempted(other) and other.preempt.by == id
end

-- Critical tasks that wait at a cap without anybody who makes room, the oldest first.
local function find_waiting()
  local found = {}
  for _, letter in ipairs(CLASSES) do
    local prefix = 'backlog=' .. letter .. '1/00/'
    local members = redis.call('ZRANGEBYLEX', context.live, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, rules.maxRead)
    for _, member in ipairs(members) do
      local id = id_of(member)
      local task = load_task(context, id)
      if task and task.queue == 'critical' and not is_served(id, task) then found[#found + 1] = { id = id, class = task.class } end
    end
  end
  table.sort(found, function(one, other) return one.id < other.id end)
  return found
end

local function may_make_room(id, task)
  if not task or not task.granted or task.priority > rules.lowTo or task.queue == 'critical' then return false end
  if task.status ~= 'running' then return not task.notBefore end
  if task.cancel or is_preempted(task) then return false end
  return id ~= last_preempted and (task.preemptions or 0) < rules.maxPerTask
end

-- Whether the first makes room rather than the second: nothing is lost by one that does not run.
local function is_better(one, other)
  local runs, other_runs = one.status == 'running', other.status == 'running'
  if runs ~= other_runs then return other_runs end
  if one.priority ~= other.priority then return one.priority < other.priority end
  return (one.startedAt or one.createdAt) > (other.startedAt or other.createdAt)
end

-- The task whose grant would let one of this class in. Returns its id and state, or nil.
local function choose(class)
  local letter = string.sub(class, 1, 1)
  local cap = context.caps[letter]
  local letters = cap and count(context, 'granted=' .. letter) >= cap and { letter } or CLASSES
  local chosen_id, chosen
  for _, each in ipairs(letters) do
    for _, low in ipairs({ '0/', '1/' }) do
      local prefix = 'granted=' .. each .. low
      local members = redis.call('ZREVRANGEBYLEX', context.live, '(' .. prefix .. '\255', '[' .. prefix, 'LIMIT', 0, rules.maxRead)
      for _, member in ipairs(members) do
        local id = id_of(member)
        local task = load_task(context, id)
        if may_make_room(id, task) and (not chosen or is_better(task, chosen)) then chosen_id, chosen = id, task end
      end
    end
  end
  return chosen_id, chosen
end

-- Takes the grant of a task back that waits for a worker. Its ticket may come all the same, and finds it parked.
local function displace(id, task, by)
  unlist(context, id, task)
  task.granted = nil
  add_note(context, task, 'made room for the critical task ' .. by)
  wait_in_backlog(context, id, task)
end

-- Signals the worker of a running task. The message makes it quick; the lease renewal makes it sure.
local function preempt(id, task, by)
  local member = shard_member(context, id) .. '/' .. task.token
  task.preempt = { token = task.token, by = by, at = context.now }
  save_task(context, id, task)
  redis.call('HSET', KEYS[11], preempt_signal(member), cjson.encode({ kind = 'preempt', reason = 'preempted by task ' .. by, by = by }))
  redis.call('HSET', KEYS[12], context.tenant, id)
  redis.call('PUBLISH', context.workers, 'preempt ' .. member)
  last_preempted = id
end

local answers = { {} }
for _, waiting in ipairs(context.caps and find_waiting() or {}) do
  if not has_room(context, waiting.class) then
    local id, task = choose(waiting.class)
    if task and task.status == 'running' then
      preempt(id, task, waiting.id)
      local critical = load_task(context, waiting.id)
      critical.preempts = id
      save_task(context, waiting.id, critical)
    elseif task then
      displace(id, task, waiting.id)
    end
    if task then
      append(answers, id, waiting.id)
      answers[#answers + 1] = task.status == 'running' and 'preempted' or 'displaced'
    end
  end
  grant_critical(context, waiting.id)
end
promote_backlog(context)
answers[1] = publish_granted(context)
return answers
