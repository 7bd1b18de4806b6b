-- The line of a lane of its own, such as that of a session, which runs one at a time or so many: `laneHeld` and `laneWait`.

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
