-- Lanes that tasks share besides their own one, in the live lookups: `holds=<lane>/<id>` and `waits=<lane>/<time of acceptance>/<id>`.
-- A task takes all of its shared lanes at once, after its own, or stands in the line of each. The first of all that wait is the first
-- in each of its lines and waits for what runs, so that no two wait for each other.

local function holds_member(lane, id) return 'holds=' .. lane.name .. '/' .. id end

local function waits_member(lane, id, task)
  return 'waits=' .. lane.name .. '/' .. string.format('%015d', task.createdAt) .. '/' .. id
end

local function first_of_shared(book, lane)
  local prefix = 'waits=' .. lane.name .. '/'
  return redis.call('ZRANGEBYLEX', book.live, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 1)[1]
end

-- Whether each of them has a place, and nobody waits for it before the task.
local function shared_are_free(book, id, task)
  for _, lane in ipairs(task.sharedLanes or {}) do
    if count(book, 'holds=' .. lane.name .. '/') >= lane.limit then return false end
    local first = first_of_shared(book, lane)
    if first and first < waits_member(lane, id, task) then return false end
  end
  return true
end

local function leave_shared_lines(book, id, task)
  for _, lane in ipairs(task.sharedLanes) do redis.call('ZREM', book.live, waits_member(lane, id, task)) end
end

-- Takes all of them, or a place in the line of each. Returns whether the task holds them now.
local function join_shared(book, id, task)
  local lanes = task.sharedLanes
  if not lanes or redis.call('ZSCORE', book.live, holds_member(lanes[1], id)) then return true end
  local is_free = shared_are_free(book, id, task)
  if is_free then leave_shared_lines(book, id, task) end
  for _, lane in ipairs(lanes) do
    redis.call('ZADD', book.live, 0, is_free and holds_member(lane, id) or waits_member(lane, id, task))
  end
  if not is_free then task.gate = 'lane' end
  return is_free
end

-- Grants a task that has all of its lanes. Where there are caps, it waits with all others for the room that became free; the
-- caller promotes the best of them.
local function go_on_with_lanes(book, id, task)
  task.gate, task.steer = nil, nil
  if book.caps then wait_in_backlog(book, id, task) else grant(book, id, task) end
end

-- Lets those in who wait for these lanes, in the order of their lines, as far as they have all that they need.
local function advance_shared(book, lanes)
  local open = {}
  for position, lane in ipairs(lanes) do open[position] = lane end
  while #open > 0 do
    local lane = table.remove(open)
    local first = first_of_shared(book, lane)
    local id = first and string.match(first, '[^/]+$')
    local task = id and load_task(book, id)
    if first and not task then
      redis.call('ZREM', book.live, first)
      open[#open + 1] = lane
    elseif task and shared_are_free(book, id, task) then
      join_shared(book, id, task)
      go_on_with_lanes(book, id, task)
      -- Who was behind it in any of its lines may be the first now.
      for _, each in ipairs(task.sharedLanes) do open[#open + 1] = each end
    end
  end
end

local function leave_shared(book, id, task)
  if not task.sharedLanes then return end
  for _, lane in ipairs(task.sharedLanes) do redis.call('ZREM', book.live, holds_member(lane, id)) end
  leave_shared_lines(book, id, task)
end

-- How many are before a task in the longest of these lines.
local function ahead_in_shared(book, id, task)
  local most = 0
  for _, lane in ipairs(task.sharedLanes or {}) do
    local line = redis.call('ZLEXCOUNT', book.live, '[waits=' .. lane.name .. '/', '(' .. waits_member(lane, id, task))
    most = math.max(most, line + count(book, 'holds=' .. lane.name .. '/'))
  end
  return most
end
