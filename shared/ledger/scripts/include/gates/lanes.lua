-- A task's own lane, which it takes before all else and keeps until it ends, yields it, or has been suspended for long.

-- include: lane-line

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
  redis.call('ZADD', context.live, '0', task.status .. '/' .. id)
  join_line(context, wait, id, task)
  return false
end

-- Takes all that a task needs: its own lane, then what it shares and its caps together; or has it wait at the first gate that is closed, listed as
-- such. Returns whether it may have its grant. `keys`: held and wait, and for a new task is_free and shared_is_free, as far as they were checked.
function gates.enter(context, keys, id, task)
  if not join_own_lane(context, keys.held, keys.wait, id, task, keys.is_free) then return false end
  return gates.enter_shared(context, id, task, keys.shared_is_free or nil)
end

-- How many are before a task in the line in which it stands.
function gates.ahead_of(context, keys, id, task)
  local rank = keys.wait and redis.call('ZRANK', keys.wait, id)
  if rank then return rank + redis.call('ZCARD', keys.held) end
  return gates.ahead_of_shared(context, id, task)
end

-- Takes a task that came out of the line of its own lane to its other gates. Where there are caps the best of all that wait goes on, so it joins these.
local function join_caps(context, id, task)
  if context.caps then
    gates.wait_at(context, id, task, CAP)
    save_task(context, id, task)
  elseif gates.enter_shared(context, id, task) then
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
function gates.leave_all(context, keys, id, task)
  gates.leave(context, id, task)
  leave_own_lane(context, keys.held, keys.wait, id, task)
end
