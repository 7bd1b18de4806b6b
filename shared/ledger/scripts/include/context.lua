-- What the calls for several tenants of a shard have in common when they run together: the options of all of them, the time, and what is
-- written once for all. Nil in a single call.
local joined

local function read_now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The beginning of calls that run together; see `runTogether`. `options`: JSON, what all their options have.
local function begin_calls(options)
  local now = read_now()
  joined = { options = { __index = cjson.decode(options) }, now = now, stamp = string.format('%d', now), messages = {}, reads = {}, writes = {} }
end

-- The context is what the functions below work on: the decoded options of the call, the names of the tenant's keys, and `now` in ms.
local function open_context(options, states, live, index, events, outbox, bodies)
  local context = cjson.decode(options)
  if joined then setmetatable(context, joined.options) end
  context.states, context.live, context.index = states, live, index
  context.events, context.outbox, context.bodies = events, outbox, bodies
  context.now = joined and joined.now or read_now()
  context.stamp = joined and joined.stamp or string.format('%d', context.now)
  context.granted, context.writes = {}, {}
  return context
end

local function append(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end

-- Calls a command on one key with many arguments (or pairs of them), in portions that Lua can pass at once.
local function call_many(command, key, arguments)
  for from = 1, #arguments, 1000 do
    redis.call(command, key, unpack(arguments, from, math.min(from + 999, #arguments)))
  end
end

-- Writes to a key that the tenants of a shard share: at once or, in calls that run together, once for all of those that succeed.
local function write_shared(context, command, key, arguments)
  if #arguments == 0 then return end
  -- A server without memory lets all writes pass after the first removal.
  local is_first_removal = joined and command == 'ZREM' and not joined.has_removed
  if joined and not is_first_removal then
    append(context.writes, { command, key }, arguments)
    return
  end
  call_many(command, key, arguments)
  if joined then joined.has_removed = true end
end

-- Whether the tenants of a shard share a key that exists; read once for calls that run together.
local function shared_exists(key)
  local reads = joined and joined.reads or {}
  if reads[key] == nil then reads[key] = redis.call('EXISTS', key) == 1 end
  return reads[key]
end

-- The end of a call that runs together with others: what it wrote to shared keys is to be written.
local function keep_writes(context)
  for position = 1, #context.writes, 2 do
    local command, key = unpack(context.writes[position])
    local name = command .. ' ' .. key
    local write = joined.writes[name] or { command = command, key = key, arguments = {} }
    joined.writes[name] = write
    for _, argument in ipairs(context.writes[position + 1]) do write.arguments[#write.arguments + 1] = argument end
  end
end

-- Writes what the calls that ran together have for the keys that they share, and publishes all that happened in one message.
local function write_joined()
  for _, write in pairs(joined.writes) do call_many(write.command, write.key, write.arguments) end
  if #joined.messages > 0 then redis.call('PUBLISH', joined.channel, table.concat(joined.messages, '\n')) end
end

local function load_task(context, id) return load_state(context.states, context.bodies, id) end
local function save_task(context, id, task) redis.call('HSET', context.states, id, write_state(task)) end

-- When the timeline is full, the oldest entry after the first goes.
local function trim_log(context, task)
  while #task.log > context.maxTimelineBytes do task.log = string.gsub(task.log, '^([^;]*);[^;]*', '%1', 1) end
end

-- Moves the task along the table of transitions (TRANSITIONS comes from shared/tasks) and appends to its timeline. Returns the
-- type of the transition's event, or an empty text.
local function enter(context, task, status, note)
  local from = task.status or 'new'
  local event = TRANSITIONS[from][status]
  if not event then
    error({ err = 'ILLEGAL ' .. from .. ' -> ' .. status })
  end
  task.status = status
  local entry = status .. '@' .. context.stamp
  if note then entry = entry .. ' ' .. timeline_note(note) end
  task.log = task.log and (task.log .. ';' .. entry) or entry
  trim_log(context, task)
  return event
end

-- Appends to the timeline what happened to a task that stays where it is.
local function add_note(context, task, note)
  task.log = task.log .. ';' .. task.status .. '@' .. context.stamp .. ' ' .. timeline_note(note)
  trim_log(context, task)
end

-- Adds to the tenant's event stream what happened to one or more tasks (their ids, separated by commas). `facts`: JSON array of what more is
-- known of each, or nil. Returns the line for listeners.
local function record_event(context, ids, event, facts)
  if facts then
    redis.call('XADD', context.events, 'MAXLEN', '~', context.maxEvents, '*', 'event', event, 'tasks', ids, 'facts', facts)
  else
    redis.call('XADD', context.events, 'MAXLEN', '~', context.maxEvents, '*', 'event', event, 'tasks', ids)
  end
  return context.tenant .. '/' .. ids .. '/' .. event
end

-- The same, and publishes it to listeners.
local function emit(context, ids, event, facts)
  local message = record_event(context, ids, event, facts)
  if joined then
    joined.channel, joined.messages[#joined.messages + 1] = context.channel, message
  else
    redis.call('PUBLISH', context.channel, message)
  end
end

-- The name of a task in the keys that all tenants of its shard share.
local function shard_member(context, id) return context.tenant .. '/' .. id end

-- The signal by which the attempt of a lease makes room for a critical task. An older release does not know it.
local function preempt_signal(lease) return lease .. '/preempt' end

-- The task of a live lookup.
local function id_of(member) return string.match(member, '[^/.]+$') end

local function granted_member(task, id) return 'granted=' .. task.class .. '/' .. id end

local CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

-- The first ten characters of a task's id of this time: ids sort by it.
local function id_time(ms)
  local text = ''
  for _ = 1, 10 do
    local digit = ms % 32
    text = string.sub(CROCKFORD, digit + 1, digit + 1) .. text
    ms = (ms - digit) / 32
  end
  return text
end

-- Tasks of one class and priority stand by their ids, and so by age; a task that its sla brings forward, by the time that it counts from.
local function backlog_member(task, id)
  local rank = 'backlog=' .. task.class .. '/' .. string.format('%02d', 10 - task.priority) .. '/'
  if not task.ranksFrom or task.ranksFrom >= task.createdAt then return rank .. id end
  return rank .. id_time(task.ranksFrom) .. '.' .. id
end

-- A value as a name in a lookup: see `lookupName` of the ledger.
local function escape_value(text) return (string.gsub(text, '[%%/]', { ['%'] = '%25', ['/'] = '%2F' })) end

-- The lookup of tasks with one end, agent, source and failure; `read/lookups.ts` has the same.
local function end_member(task, status, id)
  local code = task.error and task.error.code or ''
  return 'end=' .. status .. '/' .. escape_value(task.agent or '') .. '/' .. (task.source or '') .. '/' .. escape_value(code) .. '/' .. id
end

-- Tasks that are held by one gate stand by priority, then by age, as in the backlog.
local function hold_member(task, id)
  return 'hold=' .. task.hold.gate .. ':' .. escape_value(task.hold.what) .. string.match(backlog_member(task, id), '/.*$')
end

-- A task whose run asks people while it goes on.
local function asking_member(question, id) return 'asking=' .. question .. '/' .. id end

-- What its run asked while it went on is open no more.
local function close_question(context, id, task)
  redis.call('ZREM', context.live, asking_member(task.asking.question, id))
  task.asking = nil
end

local function count(context, prefix)
  return redis.call('ZLEXCOUNT', context.live, '[' .. prefix, '(' .. prefix .. '\255')
end

-- Adds an entry to the outbox: these tickets (`<task>.<number>`, separated by commas) may not be in BullMQ yet.
local function add_to_outbox(context, tickets)
  write_shared(context, 'ZADD', context.outbox, { context.stamp, context.tenant .. '/' .. tickets })
end

-- Of suspended runs the times in `due` are so much later (`SUSPENDED_FROM` in due-times.ts): 0.2.0, which cannot promote them, finds none of them
-- due, and so they keep no other task waiting there.
local SUSPENDED_FROM = 1000000000000000

-- Parks a task until a time, which `promote-due` compares with this server's clock: a worker's clock decides nothing. The script has set `due`.
local function schedule_due(context, id, at, status)
  if status == 'suspended' then at = at + SUSPENDED_FROM end
  redis.call('ZADD', context.due, string.format('%.0f', at), shard_member(context, id))
end
