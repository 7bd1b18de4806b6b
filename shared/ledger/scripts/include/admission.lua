-- The intake gathers what a call that accepts tasks writes to the keys that all of them share: `close_intake` writes each key once.
local function open_intake(context, keys, remember_ms)
  context.counts = {}
  return {
    rates = keys.rates, deadlines = keys.deadlines, slas = keys.slas, ended = keys.ended, due = keys.due, remember_ms = remember_ms,
    index = {}, listed = {}, states = {}, tickets = {}, created = {}, queued = {}, finished = {},
    deadline_times = {}, sla_times = {}, lane_room = {}, known_rates = {}, new_rates = {},
  }
end

-- Gathers the event of a task that ended in the call.
local function add_finished(intake, event, id)
  intake.finished[event] = intake.finished[event] or {}
  table.insert(intake.finished[event], id)
end

-- When a bucket is empty again, as this call leaves it.
local function time_of_bucket(intake, field)
  local known = intake.new_rates[field] or intake.known_rates[field] or tonumber(redis.call('HGET', intake.rates, field) or 0)
  intake.known_rates[field] = known
  return known
end

-- Generic cell rate algorithm: one time per class and window says when the bucket is empty again.
-- Returns 0 and the new times when the task may come in, else how many ms until all of them admit it, and the class whose
-- limit takes longest.
local function check_rates(context, intake, class)
  local times, longest, longest_class = {}, 0, nil
  for _, scope in ipairs({ class, 'all' }) do
    for window, rule in pairs((context.rates or {})[scope] or {}) do
      local field = scope .. ':' .. window
      local tat = math.max(time_of_bucket(intake, field), context.now)
      -- A slower rate, which held before, emptied the bucket for longer.
      local latest = context.now + rule.burst * rule.everyMs
      if tat > latest then tat, intake.new_rates[field] = latest, latest end
      local over = tat + rule.everyMs - context.now - rule.burst * rule.everyMs
      if over > longest then longest, longest_class = over, scope end
      times[field] = tat + rule.everyMs
    end
  end
  if longest > 0 then return longest, longest_class end
  return 0, times
end

-- The request that came under the caller's key before, or nil.
local function known_request(request)
  if request.known == nil then return request.known_key and redis.call('GET', request.known_key) end
  return request.known
end

-- Why a request is not accepted, as its answer: it came before, or its rate is used up. Nil when it may be; then its body is stored.
-- `request`: id, known_key (or nil), digest, rate_class (or empty), body and lookups, and what `prepare_requests` noted.
local function refuse_request(context, intake, request)
  local known = known_request(request)
  if known then
    local first, known_digest = string.match(known, '^(%S+) (.*)$')
    return { known_digest == request.digest and 'duplicate' or 'conflict', first }
  end
  -- The client sends a call again when the reply was lost; its id tells. Before the limits, some of which it used up itself.
  if not request.has_body and redis.call('HSETNX', context.bodies, request.id, request.body) == 0 then
    return { 'duplicate', request.id }
  end
  request.has_body = true
  if request.rate_class == '' then return nil end
  local after, detail = check_rates(context, intake, request.rate_class)
  if after > 0 then
    redis.call('HDEL', context.bodies, request.id)
    return { 'rate', math.ceil(after), detail }
  end
  request.rate_times = detail
  return nil
end

-- A request that failed has left nothing but its body. That of an earlier request stays.
local function forget_failed(context, request)
  if request.has_body then redis.call('HDEL', context.bodies, request.id) end
end

-- Writes what remembers an accepted request, or removes the body of a request that was not accepted after all. Returns the answer.
local function conclude_request(context, intake, request, answer)
  if answer[1] ~= 'accepted' then
    redis.call('HDEL', context.bodies, request.id)
    return answer
  end
  if request.known_key then
    redis.call('SET', request.known_key, request.id .. ' ' .. request.digest, 'PX', intake.remember_ms)
  end
  for field, time in pairs(request.rate_times or {}) do intake.new_rates[field] = time end
  for _, lookup in ipairs(request.lookups) do append(intake.index, '0', lookup .. '/' .. request.id) end
  intake.created[#intake.created + 1] = request.id
  return answer
end

-- Completes the first state of a task with its time and counts. Returns whether it is due.
local function initialize_task(context, task)
  task.createdAt, task.ticket, task.token, task.spent, task.attempt = context.now, 0, 0, 0, 0
  local is_due = not task.notBefore or task.notBefore <= context.now
  if is_due then task.notBefore = nil end
  return is_due
end

-- The refusal of a task that would have to wait when its tenant's limit on waiting tasks is reached, or nil. `freed`: how many
-- waiting tasks it ends itself.
local function refuse_waiting(context, freed)
  if not context.waiting then return nil end
  local waiting = count(context, 'pending/') - freed
  if waiting < context.waiting then return nil end
  return { 'waiting', waiting }
end

-- Adds a new task to the live lookups: at once, or with all others of the call where nothing reads them meanwhile.
local function add_live(context, intake, member)
  if not intake.gathers then
    redis.call('ZADD', context.live, 0, member)
    return
  end
  append(intake.listed, '0', member)
end

-- Saves the short state of a task that is granted at once: now, or with all others of the call.
local function save_short(context, intake, id)
  local state = 'q ' .. context.stamp .. ' ' .. context.stamp
  if not intake.gathers then
    redis.call('HSET', context.states, id, state)
    return
  end
  append(intake.states, id, state)
end

-- Whether a new task has nothing that a short state cannot say. `lanes`: the shared lanes that it began with.
local function is_ordinary(task, lanes)
  return not (task.collect or task.inputs or task.leftOut) and task.sharedLanes == lanes
end

-- Lists a task that is granted as it is accepted, and gives it its first ticket, `text`. Returns the task's answer.
local function add_granted(context, intake, id, class, text)
  add_live(context, intake, granted_member({ class = class }, id))
  count_new_grant(context, class)
  intake.queued[#intake.queued + 1] = id
  local name, before = place_ticket(context, id, 1, text)
  if not name then return { 'accepted', 'queued', 'turn', before } end
  intake.tickets[#intake.tickets + 1] = name
  return { 'accepted', 'queued', '', 0 }
end

-- Accepts an initialized task: it waits for its time, its lane or its caps, or it may run now. Returns its answer.
local function admit(context, intake, id, keys, task)
  enter(context, task, 'pending')
  if task.deadline then append(intake.deadline_times, task.deadline, shard_member(context, id)) end
  if task.sla then append(intake.sla_times, task.sla, shard_member(context, id)) end
  if task.notBefore then
    task.gate = 'time'
    redis.call('ZADD', context.live, 0, 'pending/' .. id)
    schedule_due(context, intake.due, id, task.notBefore)
    save_task(context, id, task)
    return { 'accepted', 'pending', 'time', 0 }
  end
  local lanes = task.sharedLanes
  if not join_lane(context, keys, id, task) then
    add_live(context, intake, 'pending/' .. id)
    if is_ordinary(task) and task.gate == 'lane' and not task.order then
      -- At once: the next task of the call reads the line. Whoever grants it looks for no shared lanes.
      redis.call('HSET', context.states, id, 'w ' .. context.stamp .. ' ' .. task.class)
    else
      save_task(context, id, task)
    end
    return { 'accepted', 'pending', task.gate, ahead_in_lanes(context, keys.held, keys.wait, id, task) }
  end
  if not has_room(context, task.class) then
    grant_or_backlog(context, id, task)
    return { 'accepted', 'pending', 'cap', count(context, 'pending/') - 1 }
  end
  enter(context, task, 'queued')
  task.granted, task.queuedAt, task.ticket = true, context.now, 1
  if is_ordinary(task, lanes) then save_short(context, intake, id) else save_task(context, id, task) end
  return add_granted(context, intake, id, task.class, ticket_text(context, id, task))
end

-- How many new tasks a shared lane has room for now: none while others wait for it. Read once for the tasks that nothing holds back.
local function room_in_lane(context, intake, lane)
  local known = intake.lane_room[lane.name]
  if known then return known end
  local room = 0
  if not first_of_shared(context, lane) then room = limit_of(context, lane) - count(context, 'holds=' .. lane.name .. '/') end
  intake.lane_room[lane.name] = room
  return room
end

-- Whether nothing holds a new task back: its lane is empty, and its shared lanes and its caps have room.
local function is_free_now(context, intake, request)
  for _, lane in ipairs(request.shared) do
    if room_in_lane(context, intake, lane) < 1 then return false end
  end
  if not has_room(context, request.class) then return false end
  return not request.has_lane or request.lane_is_empty or redis.call('EXISTS', request.held, request.wait) == 0
end

-- Accepts a task without reading its state when no lane, time or cap keeps it waiting. Returns its answer, or nil.
local function admit_free(context, intake, request)
  if not is_free_now(context, intake, request) then return nil end
  local id = request.id
  intake.gathers = true
  if request.has_lane then redis.call('ZADD', request.held, context.stamp, id) end
  for _, lane in ipairs(request.shared) do
    add_live(context, intake, holds_member(lane, id))
    intake.lane_room[lane.name] = intake.lane_room[lane.name] - 1
  end
  if request.deadline ~= '' then append(intake.deadline_times, request.deadline, shard_member(context, id)) end
  if request.sla ~= '' then append(intake.sla_times, request.sla, shard_member(context, id)) end
  save_short(context, intake, id)
  local text = request.level .. context.tenant .. '/' .. time_rank(context.now, request.ranks_from) .. '/' .. id .. '.1/' .. request.ticket
  return add_granted(context, intake, id, request.class, text)
end

-- Accepts a task that ends at once: its outcome says why. Returns its answer.
local function admit_ended(context, intake, id, task, status)
  enter(context, task, 'pending')
  local event = enter(context, task, status, task.outcome.reason)
  task.completedAt, task.notBefore = context.now, nil
  save_task(context, id, task)
  redis.call('ZADD', context.index, 0, 'status=' .. status .. '/' .. id)
  notify_subscribers(context, intake.ended, id, task)
  add_finished(intake, event, id)
  return { 'accepted', status, '', 0, cjson.encode(task.outcome) }
end

-- The outcome of a message that comes to a line of `waiting` tasks in which no more may wait, or nil.
local function outcome_of_full_line(context, waiting)
  if waiting < context.maxInLine then return nil end
  return { kind = 'dropped', reason = waiting .. ' messages wait in this lane already' }
end

-- Writes what was gathered of the tasks themselves, and forgets what was read: a task that may have to wait reads and changes all of it.
local function write_admitted(context, intake)
  call_many('ZADD', context.live, intake.listed)
  call_many('HSET', context.states, intake.states)
  intake.listed, intake.states, intake.lane_room = {}, {}, {}
end

-- Writes what was gathered. Returns the outbox entry of the call's tickets, or an empty text.
local function close_intake(context, intake)
  local entry = table.concat(intake.tickets, ',')
  if #intake.index > 0 then redis.call('ZADD', context.index, unpack(intake.index)) end
  write_admitted(context, intake)
  write_shared(context, 'ZADD', intake.deadlines, intake.deadline_times)
  write_shared(context, 'ZADD', intake.slas, intake.sla_times)
  local rates = {}
  for field, time in pairs(intake.new_rates) do append(rates, field, time) end
  call_many('HSET', intake.rates, rates)
  if entry ~= '' then add_to_outbox(context, entry) end
  if #intake.created > 0 then emit(context, table.concat(intake.created, ','), TRANSITIONS.new.pending) end
  if #intake.queued > 0 then emit(context, table.concat(intake.queued, ','), TRANSITIONS.pending.queued) end
  for _, event in ipairs({ TRANSITIONS.pending.cancelled, TRANSITIONS.pending.skipped }) do
    local ids = intake.finished[event] or {}
    if #ids > 0 then emit(context, table.concat(ids, ','), event) end
  end
  return entry
end
