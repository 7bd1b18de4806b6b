-- Tasks that end, or let others of their lane go first, leave their lanes.

-- Whether the task of a transition leaves its lanes; `state`: the task's, as text.
local function leaves_lanes(transition, state)
  return (transition.continuation == 'end' or transition.continuation == 'yield') and state == transition.seen
end

-- Takes the tasks of the call out of their shared lanes, also those that wait for their retry, and finds whether any other waits for their own.
-- Tasks that wait for the shared lanes are granted with the batch. `states`: of the tasks, as text.
local function leave_shared_lanes(context, batch, transitions, states)
  local holds, waits, leaving = {}, {}, {}
  for position, transition in ipairs(transitions) do
    local leaves_own = leaves_lanes(transition, states[position])
    if leaves_own or transition.continuation == 'later' and states[position] == transition.seen then
      if leaves_own and transition.wait then waits[#waits + 1] = transition.wait end
      if transition.sharedLanes then
        leaving[#leaving + 1] = transition
        for _, lane in ipairs(transition.sharedLanes) do holds[#holds + 1], batch.freed_lanes[lane.name] = holds_member(lane, transition.id), lane end
      end
    end
  end
  batch.has_lines = #waits > 0 and redis.call('EXISTS', unpack(waits)) > 0
  if #holds == 0 or redis.call('ZREM', context.live, unpack(holds)) == #holds then return end
  for _, transition in ipairs(leaving) do gates.leave(context, transition.id, read_state(transition.seen, context.bodies, transition.id)) end
end

-- Takes a task out of its lane, if that runs one at a time, and the next one out of the lane's line. Returns that one's id, or nil.
local function pass_lane(transition)
  local first = redis.pcall('ZPOPMIN', transition.wait)
  -- What cannot be read fails for the task itself.
  if first.err then return nil end
  local held = redis.pcall('ZPOPMIN', transition.held, 2)
  if held[1] == transition.id and not held[3] then
    transition.passed = { id = first[1], slot = first[2] }
    return first[1]
  end
  -- The lane once had room for more.
  for position = 1, #held, 2 do redis.call('ZADD', transition.held, held[position + 1], held[position]) end
  if first[1] then redis.call('ZADD', transition.wait, first[2], first[1]) end
  return nil
end

-- Takes the tasks of the call out of their lanes where these run one at a time, and reads at once what is next in each. Not where there are
-- caps, which the next one may have to wait for.
local function pass_lanes(context, batch, transitions, states)
  if not batch.has_lines or context.caps then return end
  local ids, passed, seen = {}, {}, {}
  for position, transition in ipairs(transitions) do
    if transition.laneLimit == 1 and not seen[transition.id] and leaves_lanes(transition, states[position]) then
      seen[transition.id] = true
      local id = pass_lane(transition)
      if id then ids[#ids + 1], passed[#passed + 1] = id, transition.passed end
    end
  end
  if #ids == 0 then return end
  local texts, bodies = redis.call('HMGET', context.states, unpack(ids)), redis.call('HMGET', context.bodies, unpack(ids))
  for position, each in ipairs(passed) do each.text, each.body = texts[position], bodies[position] end
end

-- Grants the task that came out of a lane's line, or whichever is next when that one has more to wait for.
local function grant_passed(context, transition)
  local passed = transition.passed
  transition.passed = nil
  if not passed.id then return end
  local state, is_plain
  if passed.text and passed.body and not context.agentLanes then state, is_plain = read_known(passed.text) end
  if is_plain then
    redis.call('ZADD', transition.held, context.stamp, passed.id)
    grant(context, passed.id, complete_state(state, passed.body), true)
  else
    redis.call('ZADD', transition.wait, passed.slot, passed.id)
    fill_lane(context, transition.held, transition.wait, transition.laneLimit)
  end
end

-- Takes a task out of its own lane, and grants the next of it.
local function leave_settled_lane(context, batch, transition)
  if transition.passed then
    grant_passed(context, transition)
  elseif batch.has_lines then
    leave_own_lane(context, transition.held, transition.wait, transition.id, { lane = true, laneLimit = transition.laneLimit })
  else
    redis.call('ZREM', transition.held, transition.id)
  end
end

-- Takes a task that could not be settled back to its lane, and the next one to its line.
local function return_lane(context, transition)
  local passed = transition.passed
  if not passed then return end
  redis.call('ZADD', transition.held, context.stamp, transition.id)
  if passed.id then redis.call('ZADD', transition.wait, passed.slot, passed.id) end
end
