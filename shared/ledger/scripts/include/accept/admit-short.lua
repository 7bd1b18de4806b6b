-- The short path of accepting: a task that its own lane alone may hold back gets its state, and is written with all others of the call, without
-- being read.

local short = {}
do
  -- Most tasks have this one.
  local IS_OUT = { 'accepted', 'queued', '', 0 }

  -- Lists a task that is granted as it is accepted, and gives it its first ticket, `text`. Returns the task's answer.
  function short.add_granted(context, intake, id, class, text, prefix)
    add_live(context, intake, 'granted=' .. class .. '/' .. id)
    count_new_grants(context, class, 1)
    intake.queued[#intake.queued + 1] = id
    local name, before = place_ticket(context, id, 1, text, prefix)
    if not name then return { 'accepted', 'queued', 'turn', before } end
    intake.tickets[#intake.tickets + 1] = name
    return IS_OUT
  end

  -- How many new tasks a shared lane has room for now: none while others wait for it. Read once for the tasks that nothing holds back.
  local function known_room(context, intake, lane)
    local room = intake.lane_room[lane.name] or gates.room_in_lane(context, lane)
    intake.lane_room[lane.name] = room
    return room
  end

  -- Whether the caps have room for a task. Mostly they have for all of the call, which is asked once.
  local function may_run(context, intake, class)
    local has_room_for_all = intake.has_room[class]
    if has_room_for_all == nil then
      has_room_for_all = has_room(context, class, intake.size)
      intake.has_room[class] = has_room_for_all
    end
    return has_room_for_all or has_room(context, class)
  end

  -- Whether nothing holds a new task back: its lane is empty, and its shared lanes and its caps have room.
  local function is_free_now(context, intake, item)
    for _, lane in ipairs(item.shared) do
      if known_room(context, intake, lane) < 1 then return false end
    end
    if not may_run(context, intake, item.class) then return false end
    return not item.held or item.lane_is_empty or redis.call('EXISTS', item.held, item.wait) == 0
  end

  local function add_times(context, intake, item)
    if item.deadline then append(intake.deadline_times, item.deadline, shard_member(context, item.id)) end
    if item.sla then append(intake.sla_times, item.sla, shard_member(context, item.id)) end
  end

  -- Accepts a task without reading its state when no lane, time or cap keeps it waiting. Returns its answer, or nil.
  function short.admit(context, intake, item)
    if not (item.path == 'free' or item.path == 'line') or not is_free_now(context, intake, item) then return nil end
    local id = item.id
    intake.gathers = true
    if item.held then redis.call('ZADD', item.held, context.stamp, id) end
    for _, lane in ipairs(item.shared) do
      append(intake.listed, '0', holds_member(lane, id))
      intake.lane_room[lane.name] = intake.lane_room[lane.name] - 1
    end
    add_times(context, intake, item)
    append(intake.states, id, queued_state(context.stamp, item.class))
    local rank = item.ranksFrom and time_rank(context.now, item.ranksFrom) or intake.rank
    local text = item.level .. context.tenant .. '/' .. rank .. '/' .. id .. '.1/' .. item.ticket
    return short.add_granted(context, intake, id, item.class, text, item.level)
  end

  -- Whether the tenant's limit lets one more task wait.
  local function may_wait(context, intake)
    if not context.waiting then return true end
    intake.pending = intake.pending or count(context, 'pending/')
    return intake.pending < context.waiting
  end

  -- Accepts a task behind those of its lane, which runs one at a time, without reading its state. Returns its answer, or nil where the lane
  -- may have room for it, or no more tasks may wait.
  function short.join_line(context, intake, item)
    if item.path ~= 'line' or redis.call('ZCARD', item.held) == 0 or not may_wait(context, intake) then return nil end
    local id, slot = item.id, context.now
    local last, ahead = redis.call('ZRANGE', item.wait, -1, -1, 'WITHSCORES'), 1
    if last[1] then slot, ahead = math.max(slot, last[2] + STEP_MS), 1 + redis.call('ZCARD', item.wait) end
    redis.call('ZADD', item.wait, slot, id)
    append(intake.listed, '0', 'pending/' .. id)
    append(intake.states, id, waiting_state(context.stamp, item.class))
    if intake.pending then intake.pending = intake.pending + 1 end
    add_times(context, intake, item)
    return { 'accepted', 'pending', 'lane', ahead }
  end
end
