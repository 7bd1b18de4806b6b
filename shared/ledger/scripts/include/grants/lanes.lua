-- How many of a line one step reads at most.
local MAX_LINE = 5000

-- Whether a waiting message leaves room to others: it was offered to a task that holds the lane, and waits for that task alone.
-- `state`: what its state says by itself.
local function waits_for_holder(state, held)
  return state.steer and redis.call('ZSCORE', held, state.steer)
end

-- Whether the lane has room for the task and no other waits before it.
local function lane_is_free(context, task, held, wait)
  if redis.call('ZCARD', held) >= task.laneLimit then return false end
  local first = redis.call('ZRANGE', wait, 0, 0)[1]
  if not first then return true end
  local state = redis.call('HGET', context.states, first)
  return state and waits_for_holder(read_known(state), held) and true or false
end

-- A task's number among the messages of its platform, by its state as text, or nil.
local function number_in(text)
  return text and tonumber(read_known(text).order)
end

local function by_number(one, other)
  if one.number ~= other.number then return one.number < other.number end
  return one.id < other.id
end

-- Adds the task to the line. Slots go by arrival. Numbered tasks share out their slots among themselves by number, so that a late
-- one stands where its number belongs, and tasks without a number keep their place.
local function join_line(context, wait, id, task)
  local slot, number = task.createdAt, tonumber(task.order)
  local last = redis.call('ZRANGE', wait, -1, -1, 'WITHSCORES')
  -- Behind those of the same millisecond too, unless it comes back: then it has the slot of its time.
  if last[1] and slot == context.now then slot = math.max(slot, last[2] + STEP_MS) end
  if not number or not last[1] then
    redis.call('ZADD', wait, slot, id)
    return
  end
  local last_number = number_in(redis.call('HGET', context.states, last[1]))
  if last_number and last_number < number then
    redis.call('ZADD', wait, math.max(slot, last[2] + STEP_MS), id)
    return
  end
  local line = redis.call('ZRANGE', wait, 0, MAX_LINE - 1, 'WITHSCORES')
  local ids = {}
  for position = 1, #line, 2 do ids[#ids + 1] = line[position] end
  local states = redis.call('HMGET', context.states, unpack(ids))
  local numbered, slots = { { id = id, number = number } }, { slot }
  for position, each in ipairs(ids) do
    local other_number = number_in(states[position])
    if other_number then
      numbered[#numbered + 1] = { id = each, number = other_number }
      slots[#slots + 1] = tonumber(line[position * 2])
    end
  end
  table.sort(numbered, by_number)
  table.sort(slots)
  for position, each in ipairs(numbered) do
    local before = slots[position - 1]
    if before and slots[position] <= before then slots[position] = before + STEP_MS end
    redis.call('ZADD', wait, slots[position], each.id)
  end
end

-- Takes the task's own lane, or joins its line. Returns whether the task holds the lane now. `is_free`: the answer of `lane_is_free`
-- for a task that is new; nil when it was not checked.
local function join_own_lane(context, held, wait, id, task, is_free)
  if not task.lane or (is_free == nil and redis.call('ZSCORE', held, id)) then return true end
  if is_free == nil then is_free = not task.steer and lane_is_free(context, task, held, wait) end
  if is_free then
    redis.call('ZADD', held, context.stamp, id)
    return true
  end
  task.gate = task.steer and 'steer' or 'lane'
  join_line(context, wait, id, task)
  return false
end

-- Takes the task's own lane, then all that it shares where the caps have room too, or waits. Returns whether it holds all of them now. `keys`:
-- held and wait, and for a new task is_free and shared_is_free, as far as they were checked.
local function join_lane(context, keys, id, task)
  if not join_own_lane(context, keys.held, keys.wait, id, task, keys.is_free) then return false end
  return gates.enter(context, id, task, keys.shared_is_free or nil)
end

-- How many are before a task that waits for its lanes.
local function ahead_in_lanes(context, held, wait, id, task)
  local rank = wait and redis.call('ZRANK', wait, id)
  if rank then return rank + redis.call('ZCARD', held) end
  return gates.ahead_of(context, id, task)
end

-- Takes the first of the line that waits for the lane itself. Returns its id, and what `read_known` says of its state.
local function take_next(context, held, wait)
  for _, id in ipairs(redis.call('ZRANGE', wait, 0, MAX_LINE - 1)) do
    local text = redis.call('HGET', context.states, id)
    local state, is_plain
    if text then state, is_plain = read_known(text) end
    if not text then
      redis.call('ZREM', wait, id)
    elseif not waits_for_holder(state, held) then
      redis.call('ZREM', wait, id)
      return id, state, is_plain
    end
  end
  return nil
end

-- The same, for the ordinary case that it is the very first.
local function pop_line(context, held, wait)
  local popped = redis.call('ZPOPMIN', wait)
  local id = popped[1]
  if not id then return nil end
  local text = redis.call('HGET', context.states, id)
  if text then
    local state, is_plain = read_known(text)
    if not waits_for_holder(state, held) then return id, state, is_plain end
    redis.call('ZADD', wait, popped[2], id)
  end
  return take_next(context, held, wait)
end

-- Takes a task that came out of the line of its own lane to its other gates. Where there are caps the best of all that wait goes on, so it joins these.
local function join_caps(context, id, task)
  if context.caps then
    gates.wait_at(context, id, task, CAP)
    save_task(context, id, task)
  elseif gates.enter(context, id, task) then
    grant(context, id, task)
  else
    save_task(context, id, task)
  end
end

-- Grants the next of a lane's line while the lane has room.
local function fill_lane(context, held, wait, limit)
  for _ = redis.call('ZCARD', held) + 1, limit do
    local next_id, next_task, is_plain = pop_line(context, held, wait)
    if not next_id then break end
    redis.call('ZADD', held, context.stamp, next_id)
    if is_plain then next_task = complete_state(next_task, redis.call('HGET', context.bodies, next_id)) end
    if is_plain and not context.caps and not context.agentLanes then
      grant(context, next_id, next_task, true)
    else
      next_task.gate, next_task.steer = nil, nil
      join_caps(context, next_id, next_task)
    end
  end
end

-- Leaves the task's own lane and grants the next of its line.
local function leave_own_lane(context, held, wait, id, task)
  if not task.lane then return end
  if redis.call('ZREM', held, id) == 0 then redis.call('ZREM', wait, id) end
  fill_lane(context, held, wait, task.laneLimit)
end

-- Leaves all of the task's lanes, its own one to the next of its line. Others of the shared ones are granted at the end of the step.
local function leave_lane(context, held, wait, id, task)
  gates.leave(context, id, task)
  leave_own_lane(context, held, wait, id, task)
end

-- Takes the grant of a task away until a time. It keeps its own lane.
function gates.park_until(context, due, id, task, gate, at)
  unlist(context, id, task)
  gates.leave(context, id, task)
  task.granted, task.gate, task.notBefore = nil, gate, at
  redis.call('ZADD', context.live, '0', task.status .. '/' .. id)
  schedule_due(context, due, id, at)
  save_task(context, id, task)
end

-- The task is held no more.
function gates.end_hold(context, id, task)
  if not task.hold then return end
  redis.call('ZREM', context.live, hold_member(task, id))
  task.hold = nil
end
