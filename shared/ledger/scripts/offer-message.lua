-- Accepts a message that may meet work in its lane, by its mode: what it does to others, what becomes of it, and all that
-- accepting a task is, in one step. Others' records have to be among KEYS; when one is not, nothing is written.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] rates: the tenant's rates
-- KEYS[7] deadlines: the shard's deadlines
-- KEYS[8] ended: the shard's ends to tell
-- KEYS[9] leases: the shard's running attempts
-- KEYS[10] signals: the shard's unanswered stops
-- KEYS[11] record: the message's
-- KEYS[12] known: the caller's key, any name when it gave none
-- KEYS[13] held: who holds the lane
-- KEYS[14] wait: who waits for it
-- KEYS[15...] per task: record of one that the caller believes to be there
-- ARGV[1] options: JSON of tenant, channel, bounds, caps, waiting, rates
-- ARGV[2] remember: how long a caller's key is kept, ms
-- ARGV[3] id: the message's
-- ARGV[4] digest: of what the caller sent under its key, or empty
-- ARGV[5] class: of rates
-- ARGV[6] body: JSON of what never changes
-- ARGV[7] state: JSON of what does
-- ARGV[8] rules: JSON of grace, stops (the channel), carries, collect, cap, overflow, and target, the task it is input for
-- ARGV[9] lookups: JSON array
-- ARGV[10...] per task: id of one that the caller believes to be there
-- RETURNS {granted, outbox entry, depth, {'accepted', status, gate, ahead, outcome, JSON, of one that ended} | {'moved', ids}
--   | {'duplicate', id} | {'conflict', id} | {'rate', ms, scope} | {'waiting', count} | {'refused', 'not-running' | 'takes-no-input'}
--   | {'failed', why}}; granted: ids and states of tasks let through, in turn
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
-- include: endings
-- include: stops
-- include: rates
-- include: admission
-- include: modes
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local intake = open_intake(KEYS[6], KEYS[7], KEYS[8], ARGV[2])
local id, rules = ARGV[3], cjson.decode(ARGV[8])
local next_key, next_arg = walk(KEYS, 15), walk(ARGV, 10)
local records = {}
for other in next_arg do records[other] = next_key() end

-- The keys of this message or, with a record, of another in its lane.
local function keys_of(record)
  return {
    record = record, held = KEYS[13], wait = KEYS[14], leases = KEYS[9], deadlines = KEYS[7], signals = KEYS[10], ended = KEYS[8],
  }
end
local own = keys_of(KEYS[11])

-- Ends another that does not run.
local function end_other(other, state, outcome)
  state.outcome = outcome
  finish(book, keys_of(records[other]), other, state, 'cancelled', outcome.reason)
  table.insert(intake.finished.cancelled, other)
end

local replaced = { kind = 'superseded', taskId = id, reason = 'a newer one took its place' }

-- Input for a task of no lane gives it one, which it holds.
local function prepare_target(target, state, task)
  if state.lane then return end
  state.lane, state.laneLimit = task.lane, task.laneLimit
  redis.call('ZADD', own.held, book.now, target)
  save_task(book, records[target], target, state)
end

local function replace_line(met, plan, task)
  -- All at once, so that none of them is let in by the end of another.
  if #plan.replaced > 0 then redis.call('ZREM', own.wait, unpack(plan.replaced)) end
  for position, other in ipairs(plan.replaced) do
    local state = cjson.decode(met.states[position])
    if rules.carries and plan.stopped then carry(task, other, state) end
    end_other(other, state, replaced)
  end
end

local function drop_oldest(plan, task)
  if not plan.dropped then return end
  local oldest = load_task(book, records[plan.dropped], plan.dropped)
  if rules.overflow == 'summarize' and not plan.following then note_left_out(task, records[plan.dropped], oldest) end
  if rules.overflow == 'summarize' and plan.following then
    local following = cjson.decode(redis.call('HGET', book.parked, plan.following))
    note_left_out(following, records[plan.dropped], oldest)
    redis.call('HSET', book.parked, plan.following, cjson.encode(following))
  end
  end_other(plan.dropped, oldest, { kind = 'dropped', reason = plan.reason })
end

-- The holder makes room: at once, or when its worker has stopped it. Returns the message's answer.
local function stop_holder(plan, answer)
  local holder = load_task(book, records[plan.stopped], plan.stopped)
  if holder.status ~= 'running' then
    end_other(plan.stopped, holder, replaced)
    local task = load_task(book, own.record, id)
    return { 'accepted', task.status, task.gate or '', task.granted and 0 or answer[4] }
  end
  local stop = { at = book.now, reason = replaced.reason, by = id }
  local member = stop_running(book, keys_of(records[plan.stopped]), plan.stopped, holder, stop, rules.grace)
  redis.call('PUBLISH', rules.stops, member)
  return answer
end

local function meet(task)
  local met = look_at_lane(book, own.held, own.wait)
  local plan = plan_for(book, met, task, rules)
  for _, other in ipairs(plan.needs) do
    if not records[other] then return { 'moved', plan.needs } end
  end
  if plan.outcome then
    task.outcome, task.collect = plan.outcome, nil
    return admit_ended(book, intake, id, own, task, 'cancelled')
  end
  local refusal = refuse_waiting(book, plan.freed)
  if refusal then return refusal end

  local offered = plan.offered and load_task(book, records[plan.offered], plan.offered)
  if rules.target then
    if not offered or offered.status ~= 'running' or offered.cancel then return { 'refused', 'not-running' } end
    if not offered.takesInput then return { 'refused', 'takes-no-input' } end
    prepare_target(rules.target, offered, task)
  end
  if offered and (rules.target or takes(offered, task)) then
    task.steer = plan.offered
    redis.call('PUBLISH', rules.stops, 'input ' .. book.tenant .. '/' .. plan.offered .. '/' .. offered.token)
  end
  if plan.stopped and rules.carries then carry(task, plan.stopped, load_task(book, records[plan.stopped], plan.stopped)) end
  replace_line(met, plan, task)
  drop_oldest(plan, task)
  local answer = admit(book, intake, id, own, task)
  return plan.stopped and stop_holder(plan, answer) or answer
end

local function offer()
  local item = { id = id, record = own.record, digest = ARGV[4], rate_class = ARGV[5], body = ARGV[6], lookups = cjson.decode(ARGV[9]) }
  item.known_key = ARGV[4] ~= '' and KEYS[12] or nil
  return let_in(book, intake, item, function()
    local task = cjson.decode(ARGV[7])
    local is_due = begin_task(book, task)
    local is_free = not rules.target and lane_is_free(book, task, own.held, own.wait)
    if is_due and not is_free then return meet(task) end
    local refusal = not (is_due and has_room(book, task.class)) and refuse_waiting(book, 0)
    return refusal or admit(book, intake, id, own, task)
  end)
end

local answer = alone(offer)
if answer[1] == 'failed' then redis.call('DEL', own.record) end
local entry = close_intake(book, intake)
return { let_through(book), entry, redis.call('ZCARD', book.states), answer }
