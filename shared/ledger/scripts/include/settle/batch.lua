-- A batch gathers what the transitions of one call write to the keys that all of them share: each key is written once.

-- The end of an attempt comes before the end of its task.
local EVENT_ORDER = {
  TRANSITIONS.running.failed, TRANSITIONS.running.timeout, TRANSITIONS.running.queued, TRANSITIONS.running.suspended, 'task.preempted', TRANSITIONS.running.completed,
  TRANSITIONS.running.cancelled, TRANSITIONS.failed.permanently_failed,
}

-- `keys`: names of leases, signals, ended, outputs, results, deadlines, usage_day, running_usage and failing.
local function open_batch(keys)
  return {
    keys = keys, states = {}, outputs = {}, results = {}, leases = {}, ungranted = {}, index = {}, ended = {}, deadlines = {}, events = {},
    critical = {}, yielding = {}, used = {}, ends = {}, freed_lanes = {}, has_lines = false,
  }
end

-- Gathers an event of the task. `fact`: JSON, or nil.
local function add_event(batch, id, event, fact)
  local gathered = batch.events[event] or { ids = {}, facts = {} }
  batch.events[event] = gathered
  gathered.ids[#gathered.ids + 1] = id
  gathered.facts[#gathered.ids] = fact or 'null'
  gathered.has_facts = gathered.has_facts or fact ~= nil
end

-- Gathers the attempt's end, the task's next state, and what the agent used.
local function add_settled(context, batch, transition)
  local id, ended = transition.id, transition.ended
  batch.leases[#batch.leases + 1] = shard_member(context, id) .. '/' .. transition.token
  append(batch.states, id, transition.next)
  if transition.usage then batch.used[#batch.used + 1] = transition end
  if ended and ended.agent then batch.ends[#batch.ends + 1] = { id = id, agent = ended.agent.agent, code = ended.agent.code or '' } end
end

-- Writes the states and outputs of the tasks, and what their agents used; removes the leases.
local function write_batch(context, batch)
  local keys, leases = batch.keys, batch.leases
  write_shared(context, 'ZREM', keys.leases, leases)
  -- Stops are rare.
  if #leases > 0 and shared_exists(keys.signals) then
    redis.call('HDEL', keys.signals, unpack(leases))
    for _, lease in ipairs(leases) do redis.call('HDEL', keys.signals, preempt_signal(lease)) end
  end
  call_many('HSET', context.states, batch.states)
  call_many('HSET', keys.outputs, batch.outputs)
  call_many('HSET', keys.results, batch.results)
  for _, transition in ipairs(batch.used) do
    count_usage(keys.usage_day, transition.usage, context.usage)
    redis.call('HDEL', keys.running_usage, transition.id .. ':' .. transition.token)
  end
  count_failures(context, keys.failing, batch.ends)
end

-- Ends the grants of the tasks that run no more, and grants others what they leave.
local function pass_on_grants(context, batch)
  if #batch.ungranted > 0 then redis.call('ZREM', context.live, unpack(batch.ungranted)) end
  for _, lane in pairs(batch.freed_lanes) do gates.open_lane(context, lane) end
  for position = 1, #batch.yielding, 2 do gates.return_to_line(context, batch.yielding[position], batch.yielding[position + 1]) end
  for _, id in ipairs(batch.critical) do grant_critical(context, id) end
  if #batch.ungranted > 0 then gates.open(context, #batch.ungranted * 2) end
  write_grants(context)
end

-- Writes the ends of tasks, and publishes the events.
local function close_batch(context, batch)
  if #batch.index > 0 then redis.call('ZADD', context.index, unpack(batch.index)) end
  write_shared(context, 'ZADD', batch.keys.ended, batch.ended)
  write_shared(context, 'ZREM', batch.keys.deadlines, batch.deadlines)
  for _, event in ipairs(EVENT_ORDER) do
    local gathered = batch.events[event]
    if gathered then
      local facts = gathered.has_facts and '[' .. table.concat(gathered.facts, ',') .. ']' or nil
      emit(context, table.concat(gathered.ids, ','), event, facts)
    end
  end
end
