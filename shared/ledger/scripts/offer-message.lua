-- Accepts a message that may meet work in its lane, by its mode: what it does to others, what becomes of it, and all that
-- accepting a task is, in one step.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] rates: the tenant's rates
-- KEYS[8] deadlines: the shard's deadlines
-- KEYS[9] ended: the shard's ends to tell
-- KEYS[10] leases: the shard's running attempts
-- KEYS[11] signals: the shard's unanswered stops
-- KEYS[12] known: the caller's key, any name when it gave none
-- KEYS[13] held: who holds the lane
-- KEYS[14] wait: who waits for it
-- KEYS[15] due: the shard's tasks that wait for a time
-- KEYS[16] tenants: those of the shard that are not active
-- ARGV[1] options: JSON of tenant, channel, bounds, caps, waiting, rates
-- ARGV[2] remember: how long a caller's key is kept, ms
-- ARGV[3] id: the message's
-- ARGV[4] digest: of what the caller sent under its key, or empty
-- ARGV[5] class: of rates
-- ARGV[6] body: JSON of what never changes
-- ARGV[7] state: JSON of what does
-- ARGV[8] rules: JSON of grace, carries, collect, cap, overflow, and target, the task it is input for
-- ARGV[9] lookups: JSON array
-- RETURNS {granted, outbox entry, depth, {'accepted', status, gate, ahead, outcome, JSON, of one that ended}
--   | {'duplicate', id} | {'conflict', id} | {'rate', ms, scope} | {'waiting', count} | {'closed', state of its tenant} | {'refused', 'not-running' | 'takes-no-input'}
--   | {'failed', why}}; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: due
-- include: shared-lanes
-- include: lanes
-- include: endings
-- include: stops
-- include: rates
-- include: admission
-- include: senders
-- include: modes
-- include: depth
-- include: walk
-- include: tenant-state
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local intake = open_intake(KEYS[7], KEYS[8], KEYS[9], KEYS[15], ARGV[2])
local id, rules = ARGV[3], cjson.decode(ARGV[8])
-- Of this message, and of all others in its lane.
local keys = {
  held = KEYS[13], wait = KEYS[14], leases = KEYS[10], deadlines = KEYS[8], signals = KEYS[11], ended = KEYS[9], due = KEYS[15],
}

-- Ends another that does not run.
local function end_other(other, state, outcome)
  state.outcome = outcome
  finish(book, keys, other, state, 'cancelled', outcome.reason)
  table.insert(intake.finished.cancelled, other)
end

local replaced = { kind = 'superseded', taskId = id, reason = 'a newer one took its place' }

-- Input for a task of no lane gives it one, which it holds.
local function prepare_target(target, state, task)
  if state.lane then return end
  state.lane, state.laneLimit = task.lane, task.laneLimit
  redis.call('ZADD', keys.held, book.now, target)
  save_task(book, target, state)
end

local function replace_line(plan, task)
  -- All at once, so that none of them is let in by the end of another.
  if #plan.replaced > 0 then redis.call('ZREM', keys.wait, unpack(plan.replaced)) end
  for position, other in ipairs(plan.replaced) do
    local state = read_state(plan.states[position], book.bodies, other)
    if rules.carries and plan.stopped then carry(task, other, state) end
    end_other(other, state, replaced)
  end
end

local function drop_oldest(plan, task)
  if not plan.dropped then return end
  local oldest = load_task(book, plan.dropped)
  if rules.overflow == 'summarize' and not plan.following then note_left_out(book, task, plan.dropped, oldest) end
  if rules.overflow == 'summarize' and plan.following then
    local following = cjson.decode(redis.call('HGET', book.states, plan.following))
    note_left_out(book, following, plan.dropped, oldest)
    redis.call('HSET', book.states, plan.following, cjson.encode(following))
  end
  end_other(plan.dropped, oldest, { kind = 'dropped', reason = plan.reason })
end

-- The holder makes room: at once, or when its worker has stopped it. Returns the message's answer.
local function stop_holder(plan, answer)
  local holder = load_task(book, plan.stopped)
  if holder.status ~= 'running' then
    end_other(plan.stopped, holder, replaced)
    local task = load_task(book, id)
    return { 'accepted', task.status, task.gate or '', task.granted and 0 or answer[4] }
  end
  local stop = { at = book.now, reason = replaced.reason, by = id }
  stop_running(book, keys, plan.stopped, holder, stop, rules.grace)
  return answer
end

local function meet(task)
  local met = look_at_lane(book, keys.held, keys.wait)
  local plan = plan_for(book, met, task, rules)
  if plan.outcome then
    task.outcome, task.collect = plan.outcome, nil
    return admit_ended(book, intake, id, task, 'cancelled')
  end
  local refusal = refuse_waiting(book, plan.freed)
  if refusal then return refusal end

  local offered = plan.offered and load_task(book, plan.offered)
  if rules.target then
    if not offered or offered.status ~= 'running' or offered.cancel then return { 'refused', 'not-running' } end
    if not offered.takesInput then return { 'refused', 'takes-no-input' } end
    prepare_target(rules.target, offered, task)
  end
  if offered and (rules.target or takes(offered, task)) then
    task.steer = plan.offered
    redis.call('PUBLISH', book.workers, 'input ' .. book.tenant .. '/' .. plan.offered .. '/' .. offered.token)
  end
  if plan.stopped and rules.carries then carry(task, plan.stopped, load_task(book, plan.stopped)) end
  replace_line(plan, task)
  drop_oldest(plan, task)
  local answer = admit(book, intake, id, keys, task)
  return plan.stopped and stop_holder(plan, answer) or answer
end

local function offer()
  local closed = closed_state(KEYS[16], book.tenant)
  if closed then return { 'closed', closed } end
  local item = { id = id, digest = ARGV[4], rate_class = ARGV[5], body = ARGV[6], lookups = cjson.decode(ARGV[9]) }
  item.known_key = ARGV[4] ~= '' and KEYS[12] or nil
  return let_in(book, intake, item, function()
    local task = cjson.decode(ARGV[7])
    local is_due = begin_task(book, task)
    local is_free = not rules.target and lane_is_free(book, task, keys.held, keys.wait)
    if is_due and not is_free then return meet(task) end
    local may_run = is_due and shared_are_free(book, id, task) and has_room(book, task.class)
    local refusal = not may_run and refuse_waiting(book, 0)
    return refusal or admit(book, intake, id, keys, task)
  end)
end

local answer = alone(offer)
if answer[1] == 'failed' then redis.call('HDEL', book.bodies, id) end
local entry = close_intake(book, intake)
return { let_through(book), entry, depth_of(book.live), answer }
