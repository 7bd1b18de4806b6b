-- Accepts a message that may meet work in its lane, by its mode: what it does to others, what becomes of it, and all that
-- accepting a task is, in one step.
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
-- KEYS[11] rates: hash, when the tenant's buckets are empty again by class and window, ms
-- KEYS[12] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[13] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[14] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[15] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[16] known: string, the task under the caller's key and its digest, any name when the caller gave none
-- KEYS[17] held: zset, holders of the task's lane by ms, any name when it has none
-- KEYS[18] wait: zset, line of that lane by slot
-- KEYS[19] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[20] tenants: hash, tenants of the shard that are not active
-- KEYS[21] slas: zset, slas of the shard's tasks, ms
-- KEYS[22] repeats: string, equal inputs in a row to its agent by its source, JSON, any name when they are not counted
-- KEYS[23] open: zset, the shard's cancels that are to reach sub-tasks, by ms
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, limits on waiting and rates
-- ARGV[2] remember: int, ms, how long a caller's key is kept
-- ARGV[3] id: text, the message's id
-- ARGV[4] digest: text, digest of what the caller sent under its key, or empty
-- ARGV[5] rate_class: text
-- ARGV[6] body: JSON, what never changes; see the codec
-- ARGV[7] first: JSON, the state that it begins with
-- ARGV[8] rules: JSON, grace (ms), reason (of what it replaces), carries, collect, cap, overflow,
--   arrival (sentAt, lateAfterMs) of one that gathers although its mode is not `collect`, and target, the task that it is input for
-- ARGV[9] lookups: JSON, array of texts
-- ARGV[10] repeats: text, as in accept-tasks, or empty
-- ARGV[11] parent: text, id of the task that delegated it, or empty
-- RETURNS {tickets, outbox entry, depth, answer, open}; answer as in accept-tasks, or {'refused', 'not-running' | 'takes-no-input'};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ; open: entries of the cancels whose sub-tasks are to
--   be cancelled
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
-- include: open-cancels
-- include: repeats
-- include: rates
-- include: intake
-- include: parents
-- include: requests
-- include: admit
-- include: gathering
-- include: modes
-- include: depth
-- include: iterate
-- include: tenant-state
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local intake = open_intake(context, { rates = KEYS[11], deadlines = KEYS[12], ended = KEYS[13], due = KEYS[19], slas = KEYS[21] }, ARGV[2])
local id, rules = ARGV[3], cjson.decode(ARGV[8])
local request = { id = id, digest = ARGV[4], rate_class = ARGV[5], body = ARGV[6], lookups = cjson.decode(ARGV[9]), repeats = ARGV[10], repeats_key = KEYS[22], parent = ARGV[11] }
if request.digest ~= '' then request.known_key = KEYS[16] end
-- Of this message, and of all others in its lane.
local keys = {
  held = KEYS[17], wait = KEYS[18], leases = KEYS[14], deadlines = KEYS[12], signals = KEYS[15], ended = KEYS[13], due = KEYS[19],
}
local superseded = { kind = 'superseded', taskId = id, reason = rules.reason }
-- What the message does to others. `open`: entries of the cancels that are to reach sub-tasks.
local others = { open = {} }

-- Lets the cancel of another task reach its sub-tasks. The message itself may be one of them, to which its task hands over: then they go on.
function others.cancel_below(other, reason)
  if parents.lead_to(context, request.parent, other) then return end
  others.open[#others.open + 1] = keep_cancel_open(context, KEYS[23], other, reason)
end

-- Ends another task that does not run.
function others.finish(other, state, outcome)
  state.outcome = outcome
  add_finished(intake, finish(context, keys, other, state, 'cancelled', outcome.reason), other)
  others.cancel_below(other, outcome.reason)
end

-- Input for a task without a lane gives it a lane, which it holds.
local function give_lane(target, state, task)
  if state.lane then return end
  state.lane, state.laneLimit = task.lane, task.laneLimit
  redis.call('ZADD', keys.held, context.now, target)
  save_task(context, target, state)
end

function others.replace_line(plan, task)
  -- All at once, so that none of them is granted by the end of another.
  if #plan.replaced > 0 then redis.call('ZREM', keys.wait, unpack(plan.replaced)) end
  for position, other in ipairs(plan.replaced) do
    local state = read_state(plan.states[position], context.bodies, other)
    if rules.carries and plan.stopped then carry_input(task, other, state) end
    others.finish(other, state, superseded)
  end
end

function others.drop_oldest(plan, task)
  if not plan.dropped then return end
  local oldest = load_task(context, plan.dropped)
  if rules.overflow == 'summarize' and not plan.following then note_left_out(context, task, plan.dropped, oldest) end
  if rules.overflow == 'summarize' and plan.following then
    local following = load_task(context, plan.following)
    note_left_out(context, following, plan.dropped, oldest)
    save_task(context, plan.following, following)
  end
  others.finish(plan.dropped, oldest, { kind = 'dropped', reason = plan.reason })
end

-- Stops the holder: at once, or when its worker has answered. Returns the message's answer.
function others.stop_holder(plan, answer)
  local holder = load_task(context, plan.stopped)
  if holder.status ~= 'running' then
    others.finish(plan.stopped, holder, superseded)
    local task = load_task(context, id)
    return { 'accepted', task.status, task.gate or '', task.granted and 0 or answer[4] }
  end
  local stop = { at = context.now, reason = superseded.reason, by = id }
  stop_running(context, keys, plan.stopped, holder, stop, rules.grace)
  others.cancel_below(plan.stopped, superseded.reason)
  return answer
end

-- Why a task cannot take the message as input, as the message's answer, or nil.
local function refuse_input(target)
  if not target or target.status ~= 'running' or target.cancel then return { 'refused', 'not-running' } end
  if not target.takesInput then return { 'refused', 'takes-no-input' } end
  return nil
end

-- Offers the message to a running task. Its worker is signalled.
local function offer_to(target, state, task)
  task.steer = target
  redis.call('PUBLISH', context.workers, 'input ' .. shard_member(context, target) .. '/' .. state.token)
end

-- Admits a message that meets a taken lane.
local function admit_by_mode(task)
  local plan = plan_for(context, read_lane(context, keys.held, keys.wait), task, rules)
  if plan.outcome then
    task.outcome, task.collect = plan.outcome, nil
    return admit_ended(context, intake, id, task, 'cancelled')
  end
  local offered = plan.offered and load_task(context, plan.offered)
  local refusal = refuse_waiting(context, plan.freed) or (rules.target and refuse_input(offered))
  if refusal then return refusal end
  if rules.target then give_lane(rules.target, offered, task) end
  if offered and (rules.target or takes_input(offered, task)) then offer_to(plan.offered, offered, task) end
  if plan.stopped and rules.carries then carry_input(task, plan.stopped, load_task(context, plan.stopped)) end
  others.replace_line(plan, task)
  others.drop_oldest(plan, task)
  local answer = admit(context, intake, id, keys, task)
  return plan.stopped and others.stop_holder(plan, answer) or answer
end

local function admit_message()
  local reason, excess = repetition.note(context, intake, request)
  if excess then return excess end
  local task = cjson.decode(ARGV[7])
  local is_due = initialize_task(context, task)
  if rules.arrival then task.collect = rules.collect end
  if reason then return repetition.admit_held(context, intake, id, task, reason) end
  local is_free = not rules.target and lane_is_free(context, task, keys.held, keys.wait)
  if is_due and not is_free then return admit_by_mode(task) end
  local may_run = is_due and shared_are_free(context, id, task) and has_room(context, task.class)
  local refusal = not may_run and refuse_waiting(context, 0)
  return refusal or admit(context, intake, id, keys, task)
end

local function accept()
  local closed = closed_state(KEYS[20], context.tenant)
  if closed then return { 'closed', closed } end
  local refusal = refuse_request(context, intake, request)
  return refusal or conclude_request(context, intake, request, admit_message())
end

local answer = isolate(accept)
if answer[1] == 'failed' then forget_failed(context, request) end
local entry = close_intake(context, intake)
return { publish_granted(context), entry, depth_of(context.live), answer, others.open }
