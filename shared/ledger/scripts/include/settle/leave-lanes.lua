-- Tasks that end, or let others of their lane go first, leave their lanes.

-- Whether the task of a settlement leaves its lanes; `state`: the task's, as text.
local function leaves_lanes(settlement, state)
  return (settlement.continuation == 'end' or settlement.continuation == 'yield') and state == settlement.seen
end

-- Takes the tasks of the call out of their shared lanes, and finds whether any other waits for their own. Tasks that wait for the shared
-- lanes are granted with the batch. `states`: of the settlements' tasks, as text.
local function leave_shared_lanes(context, batch, settlements, states)
  local holds, waits, leaving, decoded = {}, {}, {}, {}
  for position, settlement in ipairs(settlements) do
    if leaves_lanes(settlement, states[position]) then
      if settlement.wait then waits[#waits + 1] = settlement.wait end
      if settlement.shared ~= '' then
        local lanes = decoded[settlement.shared] or cjson.decode(settlement.shared)
        decoded[settlement.shared], leaving[#leaving + 1] = lanes, settlement
        for _, lane in ipairs(lanes) do holds[#holds + 1], batch.freed_lanes[lane.name] = holds_member(lane, settlement.id), lane end
      end
    end
  end
  batch.has_lines = #waits > 0 and redis.call('EXISTS', unpack(waits)) > 0
  if #holds == 0 or redis.call('ZREM', context.live, unpack(holds)) == #holds then return end
  for _, settlement in ipairs(leaving) do leave_shared(context, settlement.id, read_state(settlement.seen, context.bodies, settlement.id)) end
end

-- Takes a task out of its own lane, and grants the next of it.
local function leave_settled_lane(context, batch, settlement)
  if batch.has_lines then
    leave_own_lane(context, settlement.held, settlement.wait, settlement.id, { lane = true, laneLimit = settlement.limit })
  else
    redis.call('ZREM', settlement.held, settlement.id)
  end
end
