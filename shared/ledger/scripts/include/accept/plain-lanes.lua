-- The lanes of tasks that come in one call of `accept-plain-tasks`: each is read once, and its line is written once.

local plain_lanes = {}
do
  -- Reads the line of a lane, and how many hold it where that is not given. Returns false where its next task is not simply the last of its line.
  local function read_lane(lane, holders)
    lane.holders = holders or redis.call('ZCARD', lane.held)
    local last = redis.call('ZRANGE', lane.wait, -1, -1, 'WITHSCORES')
    lane.last, lane.waiting = tonumber(last[2] or 0), last[1] and redis.call('ZCARD', lane.wait) or 0
    -- The first of the line waits for something else, and is passed over or not.
    return lane.holders > 0 or lane.waiting == 0
  end

  -- Reads the lanes of a call. Returns false where a line is not simply joined.
  local function read_lanes(lanes)
    local held, wait = {}, {}
    for position, lane in ipairs(lanes) do held[position], wait[position] = lane.held, lane.wait end
    local taken = redis.call('EXISTS', unpack(held))
    local are_empty = taken == 0 and redis.call('EXISTS', unpack(wait)) == 0
    for _, lane in ipairs(lanes) do
      if are_empty then
        lane.holders, lane.last, lane.waiting = 0, 0, 0
      elseif not read_lane(lane, taken == #lanes and 1 or nil) then
        return false
      end
    end
    return true
  end

  -- How many tasks of a call have to wait in their lanes, or nil where that is not known by their number alone.
  local function count_waiting(lanes)
    local waiting = 0
    for _, lane in ipairs(lanes) do
      local behind = lane.tasks - (lane.holders == 0 and 1 or 0)
      -- Such a task has to join other lines when its turn comes.
      if behind > 0 and lane.has_shared then return nil end
      waiting = waiting + behind
    end
    return waiting
  end

  -- Reads the lanes of a call. Returns whether each of its tasks takes its lane, or is the last of its line and may wait there.
  function plain_lanes.admit(context, lanes)
    if #lanes == 0 then return true end
    local waiting = read_lanes(lanes) and count_waiting(lanes)
    if not waiting then return false end
    return waiting == 0 or not context.waiting or count(context, 'pending/') + waiting <= context.waiting
  end

  -- Whether the shared lanes of a kind have room for all of its tasks, besides those of the kinds before. `rooms`: by lane, counted here.
  function plain_lanes.admit_shared(context, rooms, kind)
    for _, lane in ipairs(kind.shared) do
      local room = rooms[lane.name]
      if not room then room = gates.room_in_lane(context, lane) end
      rooms[lane.name] = room - #kind.ids
      if rooms[lane.name] < 0 then return false end
    end
    return true
  end

  -- Brings a task to its lane. Returns how many are before it there, or nil when it holds the lane now.
  function plain_lanes.enter(context, lane, id)
    if lane.holders == 0 then
      lane.holders = 1
      redis.call('ZADD', lane.held, context.stamp, id)
      return nil
    end
    lane.last = math.max(context.now, lane.last + STEP_MS)
    append(lane.line, lane.last, id)
    lane.waiting = lane.waiting + 1
    return lane.holders + lane.waiting - 1
  end

  function plain_lanes.write(lanes)
    for _, lane in ipairs(lanes) do call_many('ZADD', lane.wait, lane.line) end
  end
end
