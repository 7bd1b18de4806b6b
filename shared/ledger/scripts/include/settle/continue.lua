-- How a task goes on after its attempt, as its settlement's `continuation` says.

local continue_task
do
  -- The task has ended: out of the live lookups, into the index.
  local function close(context, batch, settlement)
    local id = settlement.id
    batch.ungranted[#batch.ungranted + 1] = granted_member(settlement, id)
    append(batch.index, '0', 'status=' .. settlement.status .. '/' .. id)
    append(batch.index, '0', settlement.end_lookup .. '/' .. id)
    if settlement.has_deadline then batch.deadlines[#batch.deadlines + 1] = shard_member(context, id) end
    for kind_and_time in string.gmatch(settlement.subscribers, '[^,]+') do
      append(batch.ended, '0', kind_and_time .. '/' .. shard_member(context, id))
    end
    if settlement.status ~= 'completed' then return end
    append(batch.outputs, id, settlement.output)
    if settlement.result ~= '' then append(batch.results, id, settlement.result) end
  end

  -- The task waits for its retry without a grant.
  local function park(context, batch, settlement)
    local id = settlement.id
    schedule_due(context, batch.keys.due, id, settlement.at)
    batch.ungranted[#batch.ungranted + 1] = granted_member(settlement, id)
    redis.call('ZADD', context.live, '0', settlement.status .. '/' .. id)
  end

  -- The task waits behind the critical task that takes its place: in the lines of its shared lanes, or under the caps with all of its lanes.
  local function make_room(context, batch, settlement)
    local id, task = settlement.id, cjson.decode(settlement.next)
    batch.ungranted[#batch.ungranted + 1] = granted_member(settlement, id)
    redis.call('ZADD', context.live, '0', task.status .. '/' .. id)
    if settlement.continuation == 'lanes' then
      append(batch.yielding, id, task)
    else
      redis.call('ZADD', context.live, '0', backlog_member(task, id))
    end
    batch.critical[#batch.critical + 1] = task.preemptedBy
  end

  -- The task waits for what holds it, without a grant. It keeps its own lane only: what it shares may serve others meanwhile.
  local function hold(context, batch, settlement)
    local id, task = settlement.id, cjson.decode(settlement.next)
    if settlement.at ~= '' then schedule_due(context, batch.keys.due, id, settlement.at) end
    batch.ungranted[#batch.ungranted + 1] = granted_member(settlement, id)
    redis.call('ZADD', context.live, '0', task.status .. '/' .. id, '0', hold_member(task, id))
    leave_lane(context, nil, nil, id, { sharedLanes = task.sharedLanes, createdAt = task.createdAt, queue = task.queue })
  end

  -- The task keeps its grant, and its next ticket goes out at once.
  local function requeue(context, _, settlement)
    return_ticket(context, settlement.id, settlement.level)
    add_to_outbox(context, settlement.id .. '.' .. settlement.at)
  end

  -- The task keeps its grant, and gets another ticket: that of its lost worker may never come back.
  local function grant_again(context, _, settlement) give_ticket(context, settlement.id, cjson.decode(settlement.next)) end

  local STEPS = { ['end'] = close, now = requeue, again = grant_again, later = park, yield = park, hold = hold, backlog = make_room, lanes = make_room }

  function continue_task(context, batch, settlement) STEPS[settlement.continuation](context, batch, settlement) end
end
