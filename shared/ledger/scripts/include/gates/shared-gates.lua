-- What a task shares with others: lanes, and then its caps. It takes all of them in one step, or waits at the first that is closed.

do
  -- Tasks of a line that are read before one that comes.
  local MAX_BEFORE = 100

  -- Whether one that stands before this task in the line of a lane can go on: then it is next.
  local function is_behind(context, lane, id, task)
    local first = first_of_shared(context, lane)
    if not first or first >= gates.line_member(lane, id, task) then return false end
    local range = { '[' .. first, '(' .. gates.line_member(lane, id, task) }
    for _, member in ipairs(redis.call('ZRANGEBYLEX', context.live, range[1], range[2], 'LIMIT', '0', MAX_BEFORE)) do
      local other = load_task(context, id_of(member))
      if other and not gates.closed_for(context, id_of(member), other) then return true end
    end
    return false
  end

  local function is_closed(context, lane, id, task, comes)
    local is_open = gates.lane_has_room(context, lane, id, task) and not (comes and is_behind(context, lane, id, task))
    return not is_open and not redis.call('ZSCORE', context.live, holds_member(lane, id))
  end

  -- The first gate that is closed for a task, from narrow to wide: a lane, CAP, or nil. `own`: the lane in whose line it stands comes first.
  -- `comes`: it stands in none, and those that wait may go before it.
  function gates.closed_for(context, id, task, own, comes)
    if own and is_closed(context, own, id, task) then return own end
    for _, lane in ipairs(task.sharedLanes or {}) do
      if lane ~= own and is_closed(context, lane, id, task, comes) then return lane end
    end
    return not has_room(context, task.class) and CAP or nil
  end

  -- Takes all shared lanes of a task, and takes it out of all lines. `is_new`: it is in none.
  function gates.take(context, id, task, is_new)
    gates.drop_passed(context, id, task)
    for _, lane in ipairs(task.sharedLanes or {}) do
      if not is_new then redis.call('ZREM', context.live, gates.line_member(lane, id, task)) end
      redis.call('ZADD', context.live, '0', holds_member(lane, id))
    end
  end
end

-- Takes all shared lanes of a task where its caps have room too, or has it wait at the first gate that is closed. Returns whether nothing but a
-- grant is between it and its ticket. `is_free`: it is new, and its lanes were found to be free.
function gates.enter_shared(context, id, task, is_free)
  if gates.add_lane(context, task) then is_free = nil end
  if not task.sharedLanes and not context.caps then return true end
  local gate
  if not is_free then gate = gates.closed_for(context, id, task, nil, true) elseif not has_room(context, task.class) then gate = CAP end
  if gate then
    gates.wait_at(context, id, task, gate)
    return false
  end
  if task.sharedLanes then gates.take(context, id, task, is_free) end
  return true
end
