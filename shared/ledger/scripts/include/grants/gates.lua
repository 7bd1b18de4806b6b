-- The gates of a task behind its own lane: the lanes that it shares, then its caps. It takes all of them in one step, or stands in one line: that
-- of the closed gate that it met last. Others may pass it in the lanes that have room for them. After `reserveAfterMs` its lanes are kept for it,
-- one task a lane, so that no two wait for each other and none waits for good. See kept_lanes.
do
  -- From now on the line of a lane may have a task that can go on. `moved`: how many of each class went on from it to the caps in this step.
  function gates.open_lane(context, lane)
    local opened = context.opened or {}
    context.opened = opened
    local former = opened[lane.name]
    if former and not former.is_done and not former.has_skipped then return end
    opened[lane.name] = { lane = lane, from = '[waits=' .. lane.name .. '/', read = 0, moved = former and former.moved or {} }
  end

  local function holds(context, lane, id) return redis.call('ZSCORE', context.live, holds_member(lane, id)) end

  local function is_closed(context, lane, id, task)
    return not gates.lane_has_room(context, lane, id, task) and not holds(context, lane, id)
  end

  -- The first gate that is closed for a task, from narrow to wide: a lane, CAP, or nil. `own`: the lane in whose line it stands comes first.
  function gates.closed_for(context, id, task, own)
    if own and is_closed(context, own, id, task) then return own end
    for _, lane in ipairs(task.sharedLanes or {}) do
      if lane ~= own and is_closed(context, lane, id, task) then return lane end
    end
    return not has_room(context, task.class) and CAP or nil
  end

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

  -- The first of its shared lanes that a task may not take now, or nil.
  local function closed_lane(context, id, task)
    for _, lane in ipairs(task.sharedLanes or {}) do
      local is_open = gates.lane_has_room(context, lane, id, task) and not is_behind(context, lane, id, task)
      if not is_open and not holds(context, lane, id) then return lane end
    end
    return nil
  end

  function gates.are_free(context, id, task) return not closed_lane(context, id, task) end

  -- Notes that others may pass a task which waits at one gate in a lane that has room for it.
  local function note_passed(context, id, task, gate)
    if task.passed then return end
    for _, lane in ipairs(task.sharedLanes or {}) do
      if lane ~= gate and gates.lane_has_room(context, lane, id, task) then
        task.passed = context.now
        redis.call('ZADD', context.live, '0', gates.passed_member(id, task))
        return
      end
    end
  end

  -- Has a task wait at a closed gate. The caller saves it.
  function gates.wait_at(context, id, task, gate)
    task.gate = gate == CAP and 'cap' or 'lane'
    -- What is kept for it is kept from others by where it stands.
    if task.passed then context.kept = nil end
    redis.call('ZADD', context.live, '0', gate == CAP and backlog_member(task, id) or gates.line_member(gate, id, task))
    note_passed(context, id, task, gate)
  end

  -- Keeps its lanes for a task at once, because another makes room for it.
  function gates.keep_for(context, id, task)
    if task.sharedLanes then
      gates.drop_passed(context, id, task)
      task.passed = 0
      redis.call('ZADD', context.live, '0', gates.passed_member(id, task))
    end
    save_task(context, id, task)
  end

  -- No lane is kept for the task any more; those behind it in time may keep others now.
  function gates.drop_passed(context, id, task)
    if not task.passed then return end
    for name in pairs(gates.kept_lanes(context)) do gates.open_lane(context, { name = name }) end
    redis.call('ZREM', context.live, gates.passed_member(id, task))
    task.passed, context.kept = nil, nil
  end

  -- Takes all shared lanes of a task, and takes it out of all lines. `is_new`: it is in none.
  function gates.take(context, id, task, is_new)
    gates.drop_passed(context, id, task)
    for _, lane in ipairs(task.sharedLanes or {}) do
      if not is_new then redis.call('ZREM', context.live, gates.line_member(lane, id, task)) end
      redis.call('ZADD', context.live, '0', holds_member(lane, id))
    end
  end

  -- The first gate that a task which comes meets closed, or nil. `is_free`: its lanes were found to be free.
  function gates.first_closed(context, id, task, is_free)
    local lane = not is_free and closed_lane(context, id, task)
    return lane or not has_room(context, task.class) and CAP or nil
  end
end

-- Takes all shared lanes of a task where its caps have room too, or has it wait at the first gate that is closed. Returns whether nothing but a
-- grant is between it and its ticket. `is_free`: it is new, and its lanes were found to be free.
function gates.enter(context, id, task, is_free)
  if gates.add_lane(context, task) then is_free = nil end
  if not task.sharedLanes and not context.caps then return true end
  local gate = gates.first_closed(context, id, task, is_free)
  if gate then
    gates.wait_at(context, id, task, gate)
    return false
  end
  if task.sharedLanes then gates.take(context, id, task, is_free) end
  return true
end

do
  -- Tasks that one step takes on, unless it ends more, and of a line that it reads. The next step goes on, or the chore that applies limits.
  local MAX_STEPS, MAX_READ = 100, 100

  -- A waiting task with what it stands by among those of all lines: critical, priority, age. Nil when it is gone or cannot be read.
  local function read_head(context, member)
    local id = id_of(member)
    local is_read, task = pcall(load_task, context, id)
    if not is_read or not task or task.completedAt then return nil, is_read end
    return { id = id, task = task, member = member, order = string.match(backlog_member(task, id), '/(.*)$') }
  end

  -- The next of the line of a lane, or nil.
  local function head_of_lane(context, entry)
    if entry.head then return entry.head end
    -- Mostly one goes on, and then the lane is full.
    if entry.limit and count(context, 'holds=' .. entry.lane.name .. '/') >= entry.limit then return nil end
    local prefix = 'waits=' .. entry.lane.name .. '/'
    for _ = entry.read, MAX_READ do
      local member = redis.call('ZRANGEBYLEX', context.live, entry.from, '(' .. prefix .. '\255', 'LIMIT', '0', '1')[1]
      if not member then return nil end
      local head, is_read = read_head(context, member)
      if head then
        entry.head = head
        return head
      end
      if is_read then redis.call('ZREM', context.live, member) else return nil end
    end
    return nil
  end

  -- The best of all lines that were opened, and the line of its lane, or nil.
  local function best_head(context)
    local best, from
    for _, entry in pairs(context.opened) do
      local head = not entry.is_done and head_of_lane(context, entry)
      entry.is_done = not head
      if head and (not best or head.order < best.order) then best, from = head, entry end
    end
    local order, class
    if context.opened_caps then order, class = best_of_backlog(context) end
    context.opened_caps = order ~= nil
    if not order or best and best.order < order then return best, from end
    return read_head(context, 'backlog=' .. class .. '/' .. order) or { member = 'backlog=' .. class .. '/' .. order }
  end

  local function start(context, head)
    -- Now, because what the grant takes out may be gathered.
    if context.gathered then redis.call('ZREM', context.live, head.member) end
    gates.take(context, head.id, head.task)
    head.task.steer = nil
    grant(context, head.id, head.task)
  end

  -- Has a task wait at another gate than before, which leaves the lanes that it needs to others.
  local function move_on(context, head, gate)
    redis.call('ZREM', context.live, head.member)
    gates.wait_at(context, head.id, head.task, gate)
    if gate == CAP then context.opened_caps = true end
    save_task(context, head.id, head.task)
    for _, lane in ipairs(head.task.sharedLanes or {}) do
      if lane ~= gate then gates.open_lane(context, lane) end
    end
  end

  -- Whether the rest of a line is left where it is: its lane is full, or enough of it has been read.
  local function is_done(context, entry, lane)
    return entry.read >= MAX_READ or count(context, 'holds=' .. lane.name .. '/') >= limit_of(context, lane)
  end

  -- Leaves the first of a line where it is: its lane is kept for another, or as many of its class wait at the caps as the lane has room for.
  local function pass_over(context, entry, head, lane)
    entry.from, entry.read, entry.has_skipped = '(' .. head.member, entry.read + 1, true
    entry.is_done = is_done(context, entry, lane)
  end

  local function lane_named(task, name)
    for _, lane in ipairs(task.sharedLanes or {}) do
      if lane.name == name then return lane end
    end
    return nil
  end

  -- Takes on the first of the line of a lane.
  local function take_on(context, entry, head)
    entry.head = nil
    local lane = lane_named(head.task, entry.lane.name)
    -- An older release may have left it in a line.
    if not lane or head.task.granted then return redis.call('ZREM', context.live, head.member) end
    entry.limit = limit_of(context, lane)
    gates.add_lane(context, head.task)
    local gate = gates.closed_for(context, head.id, head.task, lane)
    if not gate then return start(context, head) end
    local class = head.task.class
    local moved = entry.moved[class] or 0
    if gate == lane or gate == CAP and moved >= limit_of(context, lane) - count(context, 'holds=' .. lane.name .. '/') then
      return pass_over(context, entry, head, lane)
    end
    if gate == CAP then entry.moved[class] = moved + 1 end
    move_on(context, head, gate)
  end

  -- Takes on the first of those that wait at the caps.
  local function take_on_capped(context, head)
    if not head.task then return redis.call('ZREM', context.live, head.member) end
    gates.add_lane(context, head.task)
    local gate = gates.closed_for(context, head.id, head.task)
    if gate then move_on(context, head, gate) else start(context, head) end
  end

  -- Grants what may go on in the lines that this step opened, the best first. Returns how many, and whether there may be more.
  function gates.open(context, max)
    context.opened, context.opened_caps = context.opened or {}, true
    local before = #context.granted
    for _ = 1, math.max(max or 0, MAX_STEPS) do
      local head, entry = best_head(context)
      if not head then
        context.opened = nil
        return #context.granted - before, false
      end
      if entry then take_on(context, entry, head) else take_on_capped(context, head) end
    end
    context.opened = nil
    return #context.granted - before, true
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

-- Takes a task whose queue or priority changed to its place in the lines that it waits in. `former`: it, as it was.
function gates.move(context, id, former, task)
  if not task.sharedLanes then return end
  if former.passed then
    redis.call('ZREM', context.live, gates.passed_member(id, former))
    redis.call('ZADD', context.live, '0', gates.passed_member(id, task))
    context.kept = nil
  end
  for _, lane in ipairs(task.sharedLanes) do
    if redis.call('ZREM', context.live, gates.line_member(lane, id, former)) == 1 then
      redis.call('ZADD', context.live, '0', gates.line_member(lane, id, task))
    end
    gates.open_lane(context, lane)
  end
end

-- Has a task that does not run any more stand in line again, behind better ones. The caller has taken it out of what it was granted.
function gates.return_to_line(context, id, task)
  gates.leave(context, id, task)
  gates.wait_at(context, id, task, context.caps and CAP or task.sharedLanes and task.sharedLanes[1] or CAP)
  save_task(context, id, task)
end

-- Gives a granted task that was accepted before the first figure of its agent the agent's lane. Where that is full it gives up all that it
-- shares, and waits. Returns whether it holds all of its shared lanes.
function gates.adopt(context, id, task)
  local missing = gates.missing_lane(context, task)
  if not missing then return true end
  local has_room_now = gates.lane_has_room(context, missing, id, task) and not first_of_shared(context, missing)
  if not has_room_now then gates.leave(context, id, task) end
  gates.add_lane(context, task)
  if has_room_now then
    redis.call('ZADD', context.live, '0', holds_member(missing, id))
  else
    gates.wait_at(context, id, task, missing)
  end
  return has_room_now
end
