-- Starts the tasks of tickets that slots took, where nothing but their turn holds them back. All others are set aside: they stay in the outbox
-- until their worker has looked what they wait for.

local start_tickets
do
  -- A tenant's part of the call. `names`: the beginning of its keys before and after its id.
  local function open_tenant(context, tenant)
    local prefix = context.names[1] .. tenant .. context.names[2]
    local own = { tenant = tenant, prefix = prefix, states = prefix .. 'task-states', bodies = prefix .. 'bodies', events = prefix .. 'events' }
    return setmetatable(own, { __index = context })
  end

  -- Whether messages that the turn collects may still come.
  local function still_collects(context, ticket, task)
    if not task.collect or task.token > 0 then return false end
    local lane = context.prefix .. 'lane:' .. (task.lane or '')
    return not task.lane or due_after_debounce(context, { held = lane .. ':held', wait = lane .. ':wait' }, ticket.id, task) > context.now
  end

  -- Whether the tenant's agents have got a bound that the task does not know of.
  local function lacks_lane(context, agent, lanes)
    local limits = context.bounded[context.tenant]
    local name = 'agent:' .. agent
    if not limits or not limits[name] then return false end
    for _, lane in ipairs(lanes or {}) do
      if lane.name == name then return false end
    end
    return true
  end

  -- Why a task may not start with its ticket, as a word, or nil.
  local function find_obstacle(context, ticket, task)
    if task.status == 'running' or not task.granted or task.completedAt then return 'gone' end
    if ticket.number and task.ticket ~= ticket.number then return 'gone' end
    if task.losses and (context.isolation == 'offered' or context.isolation == 'full') then return 'suspect' end
    if task.notBefore or task.hold or still_collects(context, ticket, task) then return 'waits' end
    return lacks_lane(context, task.agent, task.sharedLanes) and 'waits' or nil
  end

  -- The state of a ticket's task once it runs, its token and its attempt; nil, and why, when it is set aside.
  local function start_taken(context, ticket, state, body)
    if not state or not body then return nil, 'gone' end
    local late = is_late(context, context.deadlines, ticket.id)
    local may_be_ordinary = not (late or context.daemon or context.bounded[context.tenant])
    local started = may_be_ordinary and started_state(state, context.stamp, context.worker_word)
    if started then return started, 1, 1 end
    local task = read_state_of(state, body)
    local obstacle = late and task.token == 0 and 'waits' or find_obstacle(context, ticket, task)
    if obstacle then return nil, obstacle, task.losses end
    start_attempt(context, task, context.worker)
    return write_state(task), task.token, task.attempt
  end

  -- Starts what it can of one tenant's tickets. Returns the members of their leases and the line of their event.
  local function start_of_tenant(context, tickets)
    local ids, states, members, started, facts, has_facts = {}, {}, {}, {}, {}, false
    for position, ticket in ipairs(tickets) do ids[position] = ticket.id end
    local known, bodies = redis.call('HMGET', context.states, unpack(ids)), redis.call('HMGET', context.bodies, unpack(ids))
    for position, ticket in ipairs(tickets) do
      -- One that cannot be read is left to its review.
      local is_read, state, token, attempt = pcall(start_taken, context, ticket, known[position], bodies[position])
      if is_read and state then
        ticket.state, ticket.body = state, bodies[position]
        append(states, ticket.id, state)
        ticket.lease = shard_member(context, ticket.id) .. '/' .. token
        members[#members + 1] = ticket.lease
        started[#started + 1] = ticket.id
        facts[#started] = start_fact(attempt) or 'null'
        has_facts = has_facts or attempt > 1
      else
        ticket.obstacle, ticket.losses = is_read and token or 'waits', is_read and attempt or nil
      end
    end
    if #started == 0 then return members, nil end
    call_many('HSET', context.states, states)
    local event = context.daemon and TRANSITIONS.queued.scheduled or TRANSITIONS.scheduled.running
    return members, record_event(context, table.concat(started, ','), event, has_facts and '[' .. table.concat(facts, ',') .. ']' or nil)
  end

  -- Starts the tasks of tickets, each with `tenant`, `id`, and `number` and `agent` where they are known. Those of started tasks have `state` and
  -- `body` from then on, all others `obstacle`. Returns how many it started.
  function start_tickets(context, tickets)
    local tenants, groups, leases, messages, critical = {}, {}, {}, {}, {}
    for _, ticket in ipairs(tickets) do
      if context.apart[ticket.queue] then
        ticket.obstacle = 'apart'
      else
        local tenant = ticket.tenant
        if not groups[tenant] then groups[tenant], tenants[#tenants + 1] = {}, tenant end
        table.insert(groups[tenant], ticket)
      end
    end
    for _, tenant in ipairs(tenants) do
      local members, message = start_of_tenant(open_tenant(context, tenant), groups[tenant])
      for _, member in ipairs(members) do append(leases, context.leaseEnds, member) end
      messages[#messages + 1] = message
    end
    call_many('ZADD', context.leases, leases)
    for _, ticket in ipairs(tickets) do
      if ticket.state and ticket.queue == 'critical' then critical[#critical + 1] = ticket.lease end
    end
    if #critical > 0 then redis.call('SADD', critical_key(context.leases), unpack(critical)) end
    if #messages > 0 then redis.call('PUBLISH', context.channel, table.concat(messages, '\n')) end
    return #leases / 2
  end
end
