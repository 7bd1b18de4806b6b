-- The step that lets go on what may: the best head of all lines that were opened, from each checked from narrow to wide.
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

  local function backlog_head(context, class)
    local prefix = 'backlog=' .. class .. '/'
    local head = redis.call('ZRANGEBYLEX', context.live, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', '1')[1]
    if head then return string.sub(head, #prefix + 1) end
    return nil
  end

  -- The best of those that wait at the caps and for which these have room: by priority, then by age. Returns its place and its class, or nil.
  -- Without caps too: they may have been lifted.
  local function best_of_backlog(context)
    if #redis.call('ZRANGEBYLEX', context.live, '[backlog=', '(backlog=\255', 'LIMIT', '0', '1') == 0 then return nil end
    local best, class
    for _, letter in ipairs(CLASSES) do
      for _, low in ipairs({ '1', '0' }) do
        local head = backlog_head(context, letter .. low)
        if head and (not best or head < best) and has_room(context, letter .. low) then best, class = head, letter .. low end
      end
    end
    return best, class
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
