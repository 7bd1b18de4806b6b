-- The gates of a task: its own lane (lanes.lua), what it shares with others and its caps, what holds it, and times. Each task without a grant stands at
-- one of them:
--   enter: takes all that it needs in one step, or has it wait at the first that is closed
--   wait_at: has it wait at one of any kind; place_of: where it stands, ahead_of: behind how many
--   leave, give_up: out of what it holds; pass: what held it is over
--   move: to its place by another priority or queue; open: lets others go on
-- Of lanes and caps it meets the closed one that it met last. Others may pass it in the lanes that have room for them. After `reserveAfterMs` its lanes
-- are kept for it, one task a lane, so that no two wait for each other and none waits for good.
-- include: passing
-- include: agent-lanes
-- include: shared-gates

do
  -- What a task is in the line of a gate; nil at a time.
  local function member_at(gate, id, task)
    if gate == CAP then return backlog_member(task, id) end
    if gate == HOLD then return hold_member(task, id) end
    return type(gate) == 'table' and gates.line_member(gate, id, task) or nil
  end

  local function name_of(gate, task)
    if gate == HOLD then return task.hold.gate end
    return type(gate) == 'table' and 'lane' or gate
  end

  -- Has a task wait at a closed gate: a lane, CAP, HOLD, or a time, by its name. With `notBefore` it waits no longer than that. One that collects
  -- messages keeps its grant. The caller saves it.
  function gates.wait_at(context, id, task, gate)
    local member = member_at(gate, id, task)
    task.gate = name_of(gate, task)
    -- What is kept for it is kept from others by where it stands.
    if task.passed then context.kept = nil end
    if member then
      redis.call('ZADD', context.live, '0', task.status .. '/' .. id, '0', member)
    elseif not task.granted then
      redis.call('ZADD', context.live, '0', task.status .. '/' .. id)
    end
    if task.notBefore then schedule_due(context, id, task.notBefore, task.status) end
    if member and gate ~= HOLD then gates.note_passed(context, id, task, gate) end
  end

  -- A task goes on from the hold or the time at which it stood.
  function gates.pass(context, id, task)
    if task.hold then redis.call('ZREM', context.live, hold_member(task, id)) end
    task.hold, task.gate, task.notBefore = nil, nil, nil
  end

  -- The gate at which a task stands: HOLD, CAP, a lane, the name of a time, or nil.
  function gates.place_of(context, id, task)
    if task.hold then return HOLD end
    if task.notBefore then return task.gate end
    if redis.call('ZSCORE', context.live, backlog_member(task, id)) then return CAP end
    for _, lane in ipairs(task.sharedLanes or {}) do
      if redis.call('ZSCORE', context.live, gates.line_member(lane, id, task)) then return lane end
    end
    return nil
  end

  -- How many are before a task that waits behind its own lane.
  function gates.ahead_of_shared(context, id, task)
    local gate = gates.place_of(context, id, task)
    if gate == CAP then return count(context, 'pending/') - 1 end
    if type(gate) ~= 'table' then return 0 end
    local before = redis.call('ZLEXCOUNT', context.live, '[waits=' .. gate.name .. '/', '(' .. gates.line_member(gate, id, task))
    return before + count(context, 'holds=' .. gate.name .. '/')
  end
end

-- Takes a task out of its shared lanes and their lines.
function gates.leave(context, id, task)
  if not task.sharedLanes then return end
  gates.drop_passed(context, id, task)
  for _, lane in ipairs(task.sharedLanes) do
    redis.call('ZREM', context.live, holds_member(lane, id), gates.line_member(lane, id, task))
    gates.open_lane(context, lane)
  end
end

-- Takes the grant of a task, or its place in a line, and all that it shares. It keeps its own lane.
function gates.give_up(context, id, task)
  unlist(context, id, task)
  gates.leave(context, id, task)
  task.granted = nil
end

-- Has a task that does not run any more, or not yet, stand in line again, behind better ones.
function gates.return_to_line(context, id, task)
  gates.give_up(context, id, task)
  gates.wait_at(context, id, task, context.caps and CAP or task.sharedLanes and task.sharedLanes[1] or CAP)
  save_task(context, id, task)
end

do
  local function move_in_lanes(context, id, former, task)
    if former.passed then
      redis.call('ZREM', context.live, gates.passed_member(id, former))
      redis.call('ZADD', context.live, '0', gates.passed_member(id, task))
      context.kept = nil
    end
    for _, lane in ipairs(task.sharedLanes or {}) do
      if redis.call('ZREM', context.live, gates.line_member(lane, id, former)) == 1 then
        redis.call('ZADD', context.live, '0', gates.line_member(lane, id, task))
      end
      gates.open_lane(context, lane)
    end
  end

  -- Takes a task whose queue, class or priority changed to its place. One with a grant that the caps have no room for any more waits there. The caller
  -- saves it. `former`: it, as it was.
  function gates.move(context, id, former, task)
    unlist(context, id, former)
    if task.granted and has_room(context, task.class) then
      redis.call('ZADD', context.live, '0', granted_member(task, id))
    elseif task.granted or task.gate == 'cap' then
      if task.granted then gates.leave(context, id, task) end
      task.granted = nil
      gates.wait_at(context, id, task, CAP)
    else
      redis.call('ZADD', context.live, '0', task.status .. '/' .. id)
      if task.hold then redis.call('ZADD', context.live, '0', hold_member(task, id)) end
    end
    move_in_lanes(context, id, former, task)
  end
end

-- The lanes that tasks wait for.
function gates.lanes_with_line(context)
  local lanes, from = {}, '[waits='
  while true do
    local first = redis.call('ZRANGEBYLEX', context.live, from, '(waits=\255', 'LIMIT', '0', '1')[1]
    if not first then return lanes end
    local name = string.match(first, '^waits=([^/]+)/')
    lanes[#lanes + 1] = { name = name, first = first }
    from = '(waits=' .. name .. '/\255'
  end
end

-- include: open-gates
