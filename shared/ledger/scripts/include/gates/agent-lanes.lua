-- The lanes that agents have by the figures of their tenant, also for tasks that were accepted before these.

-- The lane that the task's agent has by a figure of its tenant and the task lacks, because it was accepted before that; else nil.
function gates.missing_lane(context, task)
  local name = 'agent:' .. task.agent
  local limit = (context.agentLanes or {})[name]
  if not limit then return nil end
  for _, lane in ipairs(task.sharedLanes or {}) do
    if lane.name == name then return nil end
  end
  return { name = name, limit = limit }
end

-- Gives a task the lane that its agent has since it was accepted. Returns whether it lacked it.
function gates.add_lane(context, task)
  local missing = gates.missing_lane(context, task)
  if not missing then return false end
  task.sharedLanes = { unpack(task.sharedLanes or {}) }
  task.sharedLanes[#task.sharedLanes + 1] = missing
  return true
end

-- Gives a granted task that was accepted before the first figure of its agent the agent's lane. Where that is full it gives up its grant and all
-- that it shares, and waits. Returns whether it holds all of its shared lanes. The caller saves one that waits.
function gates.adopt(context, id, task)
  local missing = gates.missing_lane(context, task)
  if not missing then return true end
  local has_room_now = gates.lane_has_room(context, missing, id, task) and not first_of_shared(context, missing)
  if not has_room_now then gates.give_up(context, id, task) end
  gates.add_lane(context, task)
  if has_room_now then
    redis.call('ZADD', context.live, '0', holds_member(missing, id))
  else
    gates.wait_at(context, id, task, missing)
  end
  return has_room_now
end
