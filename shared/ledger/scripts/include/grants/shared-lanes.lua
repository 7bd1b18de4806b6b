-- Lanes that tasks share besides their own lane, in the live lookups: `holds=<lane>/<id>` and `waits=<lane>/<accepted at>/<id>`, with a `!`
-- before the time of a critical task, which sorts before all others. A task takes all of its shared lanes at once, after its own, or joins the
-- line of each. Lines have one order, so the first of all that wait is first in each of its lines and waits for running tasks only: no two
-- wait for each other.
local CRITICAL = '!'

local function waits_member(lane, id, task)
  return 'waits=' .. lane.name .. '/' .. (task.queue == 'critical' and CRITICAL or '') .. string.format('%015d', task.createdAt) .. '/' .. id
end

-- The lane that the task's agent has by a figure of its tenant and the task lacks, because it was accepted before that; else nil.
local function missing_agent_lane(context, task)
  local name = 'agent:' .. task.agent
  local limit = (context.agentLanes or {})[name]
  if not limit then return nil end
  for _, lane in ipairs(task.sharedLanes or {}) do
    if lane.name == name then return nil end
  end
  return { name = name, limit = limit }
end

-- Whether each of the task's shared lanes has room, and no other task waits for it before this one.
local function shared_are_free(context, id, task)
  for _, lane in ipairs(task.sharedLanes or {}) do
    if count(context, 'holds=' .. lane.name .. '/') >= limit_of(context, lane) then return false end
    local first = first_of_shared(context, lane)
    if first and first < waits_member(lane, id, task) then return false end
  end
  return true
end

local function leave_shared_lines(context, id, task)
  for _, lane in ipairs(task.sharedLanes) do redis.call('ZREM', context.live, waits_member(lane, id, task)) end
end

-- Takes all shared lanes of the task, or joins the line of each. Returns whether the task holds them now. `is_new`: it is in none of the
-- lines, and all of the lanes were found to be free for it.
local function join_shared(context, id, task, is_new)
  local lanes = task.sharedLanes
  if not lanes or not is_new and redis.call('ZSCORE', context.live, holds_member(lanes[1], id)) then return true end
  local is_free = is_new or shared_are_free(context, id, task)
  if is_free and not is_new then leave_shared_lines(context, id, task) end
  for _, lane in ipairs(lanes) do
    redis.call('ZADD', context.live, '0', is_free and holds_member(lane, id) or waits_member(lane, id, task))
  end
  if not is_free then task.gate = 'lane' end
  return is_free
end

-- Grants a task that holds all of its lanes. Where there are caps, it joins the backlog, from which the caller promotes the best.
local function grant_with_lanes(context, id, task)
  task.gate, task.steer = nil, nil
  if context.caps then wait_in_backlog(context, id, task) else grant(context, id, task) end
end

-- Grants the tasks that wait for these lanes, in the order of their lines, as far as all that they need is free, and at most `max`.
-- Returns how many.
local function promote_shared(context, lanes, max)
  local open, promoted = {}, 0
  for position, lane in ipairs(lanes) do open[position] = lane end
  while #open > 0 and promoted < (max or math.huge) do
    local lane = table.remove(open)
    local first = first_of_shared(context, lane)
    local id = first and string.match(first, '[^/]+$')
    local task = id and load_task(context, id)
    if first and (not task or task.completedAt) then
      redis.call('ZREM', context.live, first)
      open[#open + 1] = lane
    elseif task and shared_are_free(context, id, task) then
      join_shared(context, id, task)
      grant_with_lanes(context, id, task)
      promoted = promoted + 1
      -- The task behind it in any of its lines may be the first now.
      for _, each in ipairs(task.sharedLanes) do open[#open + 1] = each end
    end
  end
  return promoted
end

-- The lanes that tasks wait for.
local function lanes_with_line(context)
  local lanes, from = {}, '[waits='
  while true do
    local first = redis.call('ZRANGEBYLEX', context.live, from, '(waits=\255', 'LIMIT', '0', '1')[1]
    if not first then return lanes end
    local name = string.match(first, '^waits=([^/]+)/')
    lanes[#lanes + 1] = { name = name, first = first }
    from = '(waits=' .. name .. '/\255'
  end
end

local function leave_shared(context, id, task)
  if not task.sharedLanes then return end
  for _, lane in ipairs(task.sharedLanes) do
    -- It holds a lane, or is in its line.
    if redis.call('ZREM', context.live, holds_member(lane, id)) == 0 then redis.call('ZREM', context.live, waits_member(lane, id, task)) end
  end
end

-- Takes a task whose queue changed to its place in the lines that it waits in, and grants what may run by that. `former`: it, as it was.
local function move_in_lines(context, id, former, task)
  if former.queue == task.queue or not task.sharedLanes then return end
  local has_moved = false
  for _, lane in ipairs(task.sharedLanes) do
    if redis.call('ZREM', context.live, waits_member(lane, id, former)) == 1 then
      redis.call('ZADD', context.live, '0', waits_member(lane, id, task))
      has_moved = true
    end
  end
  if has_moved then promote_shared(context, task.sharedLanes) end
end

-- Takes a task that does not run any more from its shared lanes to their lines, behind the critical ones, and grants others.
local function return_to_lines(context, id, task)
  for _, lane in ipairs(task.sharedLanes) do
    redis.call('ZREM', context.live, holds_member(lane, id))
    redis.call('ZADD', context.live, '0', waits_member(lane, id, task))
  end
  promote_shared(context, task.sharedLanes)
end

-- How many are before a task in the longest of these lines.
local function ahead_in_shared(context, id, task)
  local longest = 0
  for _, lane in ipairs(task.sharedLanes or {}) do
    local line = redis.call('ZLEXCOUNT', context.live, '[waits=' .. lane.name .. '/', '(' .. waits_member(lane, id, task))
    longest = math.max(longest, line + count(context, 'holds=' .. lane.name .. '/'))
  end
  return longest
end

-- Gives a task that was accepted before the first figure of its agent the agent's lane, with all that it shares at once: what it held goes
-- to others when it has to wait now. Returns whether it holds all of its shared lanes.
local function adopt_agent_lane(context, id, task)
  local missing = missing_agent_lane(context, task)
  if not missing then return true end
  local former = task.sharedLanes or {}
  leave_shared(context, id, task)
  task.sharedLanes = { unpack(former) }
  task.sharedLanes[#former + 1] = missing
  if join_shared(context, id, task) then return true end
  -- It is in the lines that are read now.
  save_task(context, id, task)
  promote_shared(context, former)
  return false
end
