-- Accepts a task: it ends at once, waits for its time, its lanes or its caps, or is granted.

local initialize_task, refuse_waiting, admit, admit_ended, outcome_of_full_line
-- Those that give a new task a short state.
local short = {}
do
  -- Completes the first state of a task with its time and counts. Returns whether it is due.
  function initialize_task(context, task)
    task.createdAt, task.ticket, task.token, task.spent, task.attempt = context.now, 0, 0, 0, 0
    local is_due = not task.notBefore or task.notBefore <= context.now
    if is_due then task.notBefore = nil end
    return is_due
  end

  -- The refusal of a task that would have to wait when its tenant's limit on waiting tasks is reached, or nil. `freed`: how many
  -- waiting tasks it ends itself.
  function refuse_waiting(context, freed)
    if not context.waiting then return nil end
    local waiting = count(context, 'pending/') - freed
    if waiting < context.waiting then return nil end
    -- What a person has to release fills no line for others.
    waiting = waiting - count(context, 'hold=repeats:')
    if waiting < context.waiting then return nil end
    return { 'waiting', waiting }
  end

  -- Whether a new task has nothing that a short state cannot say. `lanes`: the shared lanes that it began with.
  local function is_ordinary(task, lanes)
    return not (task.collect or task.inputs or task.leftOut) and task.sharedLanes == lanes
  end

  -- Lists a task that is granted as it is accepted, and gives it its first ticket, `text`. Returns the task's answer.
  local function add_granted(context, intake, id, class, text, prefix)
    add_live(context, intake, 'granted=' .. class .. '/' .. id)
    count_new_grants(context, class, 1)
    intake.queued[#intake.queued + 1] = id
    local name, before = place_ticket(context, id, 1, text, prefix)
    if not name then return { 'accepted', 'queued', 'turn', before } end
    intake.tickets[#intake.tickets + 1] = name
    return { 'accepted', 'queued', '', 0 }
  end

  -- Accepts an initialized task: it waits for its time, its lane or its caps, or it may run now. Returns its answer.
  function admit(context, intake, id, keys, task)
    enter(context, task, 'pending')
    if task.deadline then append(intake.deadline_times, task.deadline, shard_member(context, id)) end
    if task.sla then append(intake.sla_times, task.sla, shard_member(context, id)) end
    if task.notBefore then
      task.gate = 'time'
      redis.call('ZADD', context.live, '0', 'pending/' .. id)
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
  local function known_room(context, intake, lane)
    local room = intake.lane_room[lane.name] or gates.room_in_lane(context, lane)
    intake.lane_room[lane.name] = room
    return room
  end

  -- Whether nothing holds a new task back: its lane is empty, and its shared lanes and its caps have room.
  local function is_free_now(context, intake, request)
    for _, lane in ipairs(request.shared) do
      if known_room(context, intake, lane) < 1 then return false end
    end
    if not has_room(context, request.class) then return false end
    return not request.has_lane or request.lane_is_empty or redis.call('EXISTS', request.held, request.wait) == 0
  end

  local function add_times(context, intake, id, request)
    if request.deadline ~= '' then append(intake.deadline_times, request.deadline, shard_member(context, id)) end
    if request.sla ~= '' then append(intake.sla_times, request.sla, shard_member(context, id)) end
  end

  -- Accepts a task without reading its state when no lane, time or cap keeps it waiting. Returns its answer, or nil.
  function short.admit(context, intake, request)
    if not is_free_now(context, intake, request) then return nil end
    local id = request.id
    intake.gathers = true
    if request.has_lane then redis.call('ZADD', request.held, context.stamp, id) end
    for _, lane in ipairs(request.shared) do
      add_live(context, intake, holds_member(lane, id))
      intake.lane_room[lane.name] = intake.lane_room[lane.name] - 1
    end
    add_times(context, intake, id, request)
    save_short(context, intake, id)
    local rank = request.ranks_from and time_rank(context.now, request.ranks_from) or intake.rank
    local text = request.level .. context.tenant .. '/' .. rank .. '/' .. id .. '.1/' .. request.ticket
    return add_granted(context, intake, id, request.class, text, request.level)
  end

  -- Accepts a task behind those of its lane, which runs one at a time, without reading its state. Returns its answer, or nil where the lane
  -- may have room for it.
  function short.join_line(context, intake, request)
    if request.path ~= 'line' or context.waiting or redis.call('ZCARD', request.held) == 0 then return nil end
    local id, slot = request.id, context.now
    local last, ahead = redis.call('ZRANGE', request.wait, -1, -1, 'WITHSCORES'), 1
    if last[1] then slot, ahead = math.max(slot, last[2] + STEP_MS), 1 + redis.call('ZCARD', request.wait) end
    redis.call('ZADD', request.wait, slot, id)
    intake.gathers, intake.has_lines = true, true
    add_live(context, intake, 'pending/' .. id)
    append(intake.states, id, 'w ' .. context.stamp .. ' ' .. request.class)
    add_times(context, intake, id, request)
    return { 'accepted', 'pending', 'lane', ahead }
  end

  -- Accepts a task that ends at once: its outcome says why. Returns its answer.
  function admit_ended(context, intake, id, task, status)
    enter(context, task, 'pending')
    local event = enter(context, task, status, task.outcome.reason)
    task.completedAt, task.notBefore = context.now, nil
    save_task(context, id, task)
    redis.call('ZADD', context.index, '0', 'status=' .. status .. '/' .. id, '0', end_member(task, status, id))
    notify_subscribers(context, intake.ended, id, task)
    add_finished(intake, event, id)
    return { 'accepted', status, '', 0, cjson.encode(task.outcome) }
  end

  -- The outcome of a message that comes to a line of `waiting` tasks in which no more may wait, or nil.
  function outcome_of_full_line(context, waiting)
    if waiting < context.maxInLine then return nil end
    return { kind = 'dropped', reason = waiting .. ' messages wait in this lane already' }
  end
end
