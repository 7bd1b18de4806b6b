-- Whether the lane has a place and nobody waits before it.
local function lane_is_free(task, held, wait)
  return redis.call('ZCARD', held) < task.laneLimit and redis.call('ZCARD', wait) == 0
end

-- Takes a place in the task's lane, or a place in the line before it. Returns whether it holds the lane now.
local function join_lane(book, held, wait, id, task)
  if not task.lane or redis.call('ZSCORE', held, id) then return true end
  if lane_is_free(task, held, wait) then
    redis.call('ZADD', held, book.now, id)
    return true
  end
  task.gate = 'lane'
  redis.call('ZADD', wait, task.order or task.createdAt, id)
  return false
end

-- Leaves the lane and lets the next of its line in: one step, so that a lane is never empty while somebody waits for it.
-- Where there are caps, the next waits with all others for the room that became free; the caller promotes the best of them.
local function leave_lane(book, held, wait, id, task)
  if not task.lane then return end
  redis.call('ZREM', held, id)
  redis.call('ZREM', wait, id)
  while redis.call('ZCARD', held) < task.laneLimit do
    local next_id = redis.call('ZPOPMIN', wait)[1]
    if not next_id then break end
    local state = redis.call('HGET', book.parked, next_id)
    if state then
      redis.call('ZADD', held, book.now, next_id)
      local next_task = cjson.decode(state)
      next_task.gate = nil
      if book.caps then wait_in_backlog(book, next_id, next_task) else grant(book, next_id, next_task) end
    end
  end
end
