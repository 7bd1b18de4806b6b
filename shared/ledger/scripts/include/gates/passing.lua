-- Lines that a step opens, and tasks that others may pass in lanes which have room for these. See kept_lanes.

-- From now on the line of a lane may have a task that can go on. `moved`: how many of each class went on from it to the caps in this step.
function gates.open_lane(context, lane)
  local opened = context.opened or {}
  context.opened = opened
  local former = opened[lane.name]
  if former and not former.is_done and not former.has_skipped then return end
  opened[lane.name] = { lane = lane, from = '[waits=' .. lane.name .. '/', read = 0, moved = former and former.moved or {} }
end

-- Notes that others may pass a task which waits at one gate in a lane that has room for it.
function gates.note_passed(context, id, task, gate)
  if task.passed then return end
  for _, lane in ipairs(task.sharedLanes or {}) do
    if lane ~= gate and gates.lane_has_room(context, lane, id, task) then
      task.passed = context.now
      redis.call('ZADD', context.live, '0', gates.passed_member(id, task))
      return
    end
  end
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
