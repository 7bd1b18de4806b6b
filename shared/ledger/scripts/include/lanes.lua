-- How many of a line one step reads at most.
local LINE_MOST = 5000
-- The least distance of two slots in a line, in ms; a double this long after 1970 still tells it apart.
local STEP_MS = 1 / 256

-- A waiting message that was offered to a task which holds the lane leaves room to others: it waits for that task alone.
local function waits_for_holder(state, held)
  local target = string.match(state, '"steer":"([^"]+)"')
  return target and redis.call('ZSCORE', held, target)
end

-- Whether the lane has a place and nobody waits before it.
local function lane_is_free(book, task, held, wait)
  if redis.call('ZCARD', held) >= task.laneLimit then return false end
  local first = redis.call('ZRANGE', wait, 0, 0)[1]
  if not first then return true end
  local state = redis.call('HGET', book.states, first)
  return state and waits_for_holder(state, held) and true or false
end

-- A task's number among the messages of its platform, or nil.
local function number_in(state)
  return state and tonumber(string.match(state, '"order":"([^"]+)"'))
end

local function by_number(one, other)
  if one.number ~= other.number then return one.number < other.number end
  return one.id < other.id
end

-- Stands the task in the line. Slots go by arrival. Those with a number share out the slots that they have among themselves, by
-- number, so that a late one comes before those that it should have come before, and tasks without a number keep their place.
local function line_up(book, wait, id, task)
  local slot, number = task.createdAt, tonumber(task.order)
  local last = redis.call('ZRANGE', wait, -1, -1, 'WITHSCORES')
  -- Behind those of the same millisecond too, but for one that comes back: that has the slot of its time.
  if last[1] and slot == book.now then slot = math.max(slot, last[2] + STEP_MS) end
  if not number or not last[1] then
    redis.call('ZADD', wait, slot, id)
    return
  end
  local last_number = number_in(redis.call('HGET', book.states, last[1]))
  if last_number and last_number < number then
    redis.call('ZADD', wait, math.max(slot, last[2] + STEP_MS), id)
    return
  end
  local line = redis.call('ZRANGE', wait, 0, LINE_MOST - 1, 'WITHSCORES')
  local ids = {}
  for position = 1, #line, 2 do ids[#ids + 1] = line[position] end
  local states = redis.call('HMGET', book.states, unpack(ids))
  local numbered, slots = { { id = id, number = number } }, { slot }
  for position, each in ipairs(ids) do
    local its_number = number_in(states[position])
    if its_number then
      numbered[#numbered + 1] = { id = each, number = its_number }
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

-- Takes a place in the task's own lane, or a place in the line before it. Returns whether it holds the lane now. `is_free`: what
-- `lane_is_free` said a moment ago of a task that is new; nil when nobody asked.
local function join_own_lane(book, held, wait, id, task, is_free)
  if not task.lane or (is_free == nil and redis.call('ZSCORE', held, id)) then return true end
  if is_free == nil then is_free = not task.steer and lane_is_free(book, task, held, wait) end
  if is_free then
    redis.call('ZADD', held, book.now, id)
    return true
  end
  task.gate = task.steer and 'steer' or 'lane'
  line_up(book, wait, id, task)
  return false
end

-- Takes a place in all of the task's lanes, its own one first, or waits. Returns whether it holds all of them now.
local function join_lane(book, held, wait, id, task, is_free)
  return join_own_lane(book, held, wait, id, task, is_free) and join_shared(book, id, task)
end

-- How many are before a task that waits for its lanes.
local function ahead_in_lanes(book, held, wait, id, task)
  local rank = wait and redis.call('ZRANK', wait, id)
  if rank then return rank + redis.call('ZCARD', held) end
  return ahead_in_shared(book, id, task)
end

-- Takes the first of the line that waits for the lane itself. Returns its id and state, or nil.
local function next_of_line(book, held, wait)
  for _, id in ipairs(redis.call('ZRANGE', wait, 0, LINE_MOST - 1)) do
    local state = redis.call('HGET', book.states, id)
    if not state then
      redis.call('ZREM', wait, id)
    elseif not waits_for_holder(state, held) then
      redis.call('ZREM', wait, id)
      return id, state
    end
  end
  return nil
end

-- The same, for the ordinary case that it is the very first.
local function pop_line(book, held, wait)
  local popped = redis.call('ZPOPMIN', wait)
  local id = popped[1]
  if not id then return nil end
  local state = redis.call('HGET', book.states, id)
  if state and not waits_for_holder(state, held) then return id, state end
  if state then redis.call('ZADD', wait, popped[2], id) end
  return next_of_line(book, held, wait)
end

-- Leaves the task's own lane and lets the next of its line in.
local function leave_own_lane(book, held, wait, id, task)
  if not task.lane then return end
  if redis.call('ZREM', held, id) == 0 then redis.call('ZREM', wait, id) end
  for _ = redis.call('ZCARD', held) + 1, task.laneLimit do
    local next_id, state = pop_line(book, held, wait)
    if not next_id then break end
    redis.call('ZADD', held, book.now, next_id)
    if is_short(state) and not book.caps then
      grant_short(book, next_id, state)
    else
      local next_task = read_state(state, book.bodies, next_id)
      next_task.gate, next_task.steer = nil, nil
      if join_shared(book, next_id, next_task) then
        go_on_with_lanes(book, next_id, next_task)
      else
        save_task(book, next_id, next_task)
      end
    end
  end
end

-- Leaves all of the task's lanes and lets others in: one step, so that no lane is empty while somebody waits for it alone.
local function leave_lane(book, held, wait, id, task)
  leave_shared(book, id, task)
  leave_own_lane(book, held, wait, id, task)
  if task.sharedLanes then advance_shared(book, task.sharedLanes) end
end
