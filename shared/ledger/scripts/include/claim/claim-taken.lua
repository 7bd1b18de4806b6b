-- Claims the tasks of tickets that slots took, in the same step, where nothing but their turn can hold them back. All others stay in the
-- outbox, for a claim that reads what more it needs.

-- A tenant's part of the call. `names`: the beginning of its keys before and after its id.
local function open_tenant(context, tenant)
  local prefix = context.names[1] .. tenant .. context.names[2]
  local own = { tenant = tenant, states = prefix .. 'task-states', bodies = prefix .. 'bodies', events = prefix .. 'events' }
  return setmetatable(own, { __index = context })
end

-- Whether a task whose state is kept in full may start without further reads.
local function may_start(context, task, number)
  if task.status ~= 'queued' or not task.granted or task.ticket ~= number or task.completedAt then return false end
  return not (task.notBefore or task.collect or task.losses or task.hold)
end

-- The state of a ticket's task once it runs, its token and its attempt; nil when it has to be claimed by itself.
local function start_taken(context, ticket, state, worker)
  if not state or is_late(context, context.deadlines, ticket.id) then return nil end
  if string.byte(state) == QUEUED then return start_short(context, state, worker), 1, 1 end
  local task = full_state(state)
  if not task or not may_start(context, task, ticket.number) then return nil end
  start_attempt(context, task, worker)
  return cjson.encode(task), task.token, task.attempt
end

-- Claims what it can of one tenant's tickets. Returns the members of their leases and the line of their event.
local function claim_of_tenant(context, tickets, worker)
  local ids, states, members, started, facts = {}, {}, {}, {}, {}
  for position, ticket in ipairs(tickets) do ids[position] = ticket.id end
  local known, bodies = redis.call('HMGET', context.states, unpack(ids)), redis.call('HMGET', context.bodies, unpack(ids))
  local has_facts = false
  for position, ticket in ipairs(tickets) do
    -- One that cannot be read is left to its own claim.
    local is_read, state, token, attempt = pcall(start_taken, context, ticket, known[position], worker)
    if is_read and state and bodies[position] then
      ticket.state, ticket.body = state, bodies[position]
      append(states, ticket.id, state)
      members[#members + 1] = shard_member(context, ticket.id) .. '/' .. token
      started[#started + 1] = ticket.id
      facts[#started] = start_fact(attempt) or 'null'
      has_facts = has_facts or attempt > 1
    end
  end
  if #started == 0 then return members, nil end
  call_many('HSET', context.states, states)
  local message = record_event(
    context, table.concat(started, ','), TRANSITIONS.scheduled.running, has_facts and '[' .. table.concat(facts, ',') .. ']' or nil)
  return members, message
end

-- Claims tasks for a worker: `tickets` of one call, at most `max` of them, each with `tenant`, `id` and `number`. A ticket whose task was
-- claimed has its `state` and `body` from then on.
local function claim_taken(context, tickets, worker, max)
  local tenants, groups, leases, messages = {}, {}, {}, {}
  for position = 1, math.min(max, #tickets) do
    local tenant, queue = tickets[position].tenant, string.match(tickets[position].text, '^[^/]+')
    if not context.bounded[tenant] and not context.unclaimed[queue] then
      if not groups[tenant] then groups[tenant], tenants[#tenants + 1] = {}, tenant end
      table.insert(groups[tenant], tickets[position])
    end
  end
  for _, tenant in ipairs(tenants) do
    local members, message = claim_of_tenant(open_tenant(context, tenant), groups[tenant], worker)
    for _, member in ipairs(members) do append(leases, context.leaseEnds, member) end
    messages[#messages + 1] = message
  end
  call_many('ZADD', context.leases, leases)
  if #messages > 0 then redis.call('PUBLISH', context.channel, table.concat(messages, '\n')) end
end
