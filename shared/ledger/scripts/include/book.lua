-- The book is what the functions below work on: the decoded options of the call, the key names of the tenant, and `now` in ms.
local function open_book(options, states, live, index, events, outbox, bodies)
  local time = redis.call('TIME')
  local book = cjson.decode(options)
  book.states, book.live, book.index, book.events, book.outbox, book.bodies = states, live, index, events, outbox, bodies
  book.now = time[1] * 1000 + math.floor(time[2] / 1000)
  book.stamp = string.format('%d', book.now)
  book.granted = {}
  return book
end

local function append(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end

-- Calls a command on one key with many arguments (or pairs of them), in portions that Lua can hand over at once.
local function call_many(command, key, arguments)
  for from = 1, #arguments, 1000 do
    redis.call(command, key, unpack(arguments, from, math.min(from + 999, #arguments)))
  end
end

local function load_task(book, id) return load_state(book.states, book.bodies, id) end
local function save_task(book, id, task) redis.call('HSET', book.states, id, cjson.encode(task)) end

-- Moves the task along the one table of transitions (TRANSITIONS comes from shared/tasks) and appends to its timeline.
-- When that is full, the oldest entry after the first goes.
local function enter(book, task, status, note)
  local from = task.status or 'new'
  if not TRANSITIONS[from][status] then
    error({ err = 'ILLEGAL ' .. from .. ' -> ' .. status })
  end
  task.status = status
  local entry = status .. '@' .. book.stamp
  if note then entry = entry .. ' ' .. string.gsub(beginning_of(note, 200), '[;%c]', ',') end
  task.log = task.log and (task.log .. ';' .. entry) or entry
  while #task.log > book.maxTimelineBytes do task.log = string.gsub(task.log, '^([^;]*);[^;]*', '%1', 1) end
end

-- Tells the tenant's event stream, and whoever listens, what happened to one or more tasks (their ids, separated by commas).
-- `facts`: JSON array of what more is known of each, or nil.
local function emit(book, ids, event, facts)
  if facts then
    redis.call('XADD', book.events, 'MAXLEN', '~', book.maxEvents, '*', 'event', event, 'tasks', ids, 'facts', facts)
  else
    redis.call('XADD', book.events, 'MAXLEN', '~', book.maxEvents, '*', 'event', event, 'tasks', ids)
  end
  redis.call('PUBLISH', book.channel, book.tenant .. '/' .. ids .. '/' .. event)
end

local function granted_member(task, id) return 'granted=' .. task.class .. '/' .. id end
local function backlog_member(task, id)
  return 'backlog=' .. task.class .. '/' .. string.format('%02d', 10 - task.priority) .. '/' .. id
end

-- Takes the task out of the live lookups, wherever it is in them.
local function unlist(book, id, task)
  if task.granted then
    redis.call('ZREM', book.live, granted_member(task, id))
  else
    redis.call('ZREM', book.live, task.status .. '/' .. id, backlog_member(task, id))
  end
end

local function count(book, prefix)
  return redis.call('ZLEXCOUNT', book.live, '[' .. prefix, '(' .. prefix .. '\255')
end

-- Remembers that these tickets (`<task>.<number>`, separated by commas) may not be in BullMQ yet.
local function owe_tickets(book, tickets)
  redis.call('ZADD', book.outbox, book.now, book.tenant .. '/' .. tickets)
end
