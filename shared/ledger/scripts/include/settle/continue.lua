-- How a task goes on after its attempt, as the `continuation` of its transition says.

local continue_task
do
  -- The task has ended: out of the live lookups, into the index.
  local function close(context, batch, transition)
    local id, ended = transition.id, transition.ended
    batch.ungranted[#batch.ungranted + 1] = granted_member(transition, id)
    append(batch.index, '0', 'status=' .. transition.status .. '/' .. id)
    append(batch.index, '0', ended.lookup .. '/' .. id)
    if ended.hasDeadline then batch.deadlines[#batch.deadlines + 1] = shard_member(context, id) end
    for _, subscriber in ipairs(ended.subscribers or {}) do append(batch.ended, '0', subscriber .. '/' .. shard_member(context, id)) end
    if transition.status ~= 'completed' then return end
    append(batch.outputs, id, transition.output)
    if transition.result ~= '' then append(batch.results, id, transition.result) end
  end

  -- The task waits for its retry without a grant.
  local function park(context, batch, transition)
    local id = transition.id
    schedule_due(context, id, transition.dueAt, transition.status)
    batch.ungranted[#batch.ungranted + 1] = granted_member(transition, id)
    redis.call('ZADD', context.live, '0', transition.status .. '/' .. id)
  end

  -- The task waits behind the critical task that takes its place, in the line of the first gate that it meets closed.
  local function make_room(context, batch, transition)
    local id, task = transition.id, read_known(transition.next)
    batch.ungranted[#batch.ungranted + 1] = granted_member(transition, id)
    append(batch.yielding, id, task)
    batch.critical[#batch.critical + 1] = task.preemptedBy
  end

  -- The task waits for what holds it, without a grant. It keeps its own lane only: what it shares may serve others meanwhile.
  local function hold(context, batch, transition)
    local id, task = transition.id, read_known(transition.next)
    batch.ungranted[#batch.ungranted + 1] = granted_member(transition, id)
    gates.wait_at(context, id, task, HOLD)
    gates.leave(context, id, task)
  end

  -- The task keeps its grant, and stands at `slot` again under another ticket.
  local function grant_again(context, _, transition) give_ticket(context, transition.id, read_known(transition.next)) end

  local STEPS = { ['end'] = close, again = grant_again, later = park, yield = park, hold = hold, backlog = make_room, lanes = make_room }

  function continue_task(context, batch, transition) STEPS[transition.continuation](context, batch, transition) end
end
