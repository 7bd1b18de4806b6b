-- The codec of states and bodies, beside shared/ledger/codec in TypeScript.
-- A state is JSON. That of a task with an ordinary life is short: a letter and times (ms), because reading and writing JSON
-- would be most of what Redis does for it. What the task began with is in its body.
--   w <created> <class>: it waits for its lane, and nothing but its turn matters
--   q <created> <granted>: it waits for a worker
--   r <created> <granted> <started> <worker>: its first attempt runs
--   c <created> <granted> <started> <worker> <completed> <usage with finishReason, JSON, or ->: that attempt completed it
-- The name of a worker in a short state has no spaces. A short state has no order, no steer and no collect; that of a waiting task has no
-- shared lanes, and any other has the lanes that the task began with. Its deadline and its sla are in the shard's keys too.
local JSON_BEGINS = string.byte('{')
local WAITING, QUEUED = string.byte('w'), string.byte('q')
local QUOTE, BACKSLASH, UNICODE = string.byte('"'), string.byte('\\'), string.byte('u')

local function is_short(text) return string.byte(text) ~= JSON_BEGINS end

-- The beginning of a text, at most so many bytes, cut between characters.
local function beginning_of(text, max_bytes)
  local last = math.min(#text, max_bytes)
  while last > 0 and (string.byte(text, last + 1) or 0) >= 128 and string.byte(text, last + 1) < 192 do last = last - 1 end
  return string.sub(text, 1, last)
end

-- A note of an entry in the timeline, which ends with a semicolon and has one line.
local function timeline_note(text) return (string.gsub(beginning_of(text, 200), '[;%c]', ',')) end

-- What a task began with, JSON. The codec writes it first in the body, and its id next (BODY_ID); what follows is the sender's
-- own, which may be long, and deeper than cjson reads.
local function first_of(body)
  return string.sub(body, #BODY_FIRST + 1, string.find(body, BODY_ID, 1, true) - 1)
end

-- The beginning of a body's input, at least one byte more than `max_bytes` where it is longer. Nothing behind it is decoded.
local function input_beginning(body, max_bytes)
  local from = select(2, string.find(body, BODY_INPUT, 1, true)) + 2
  local at = from
  for _ = 0, max_bytes do
    local byte = string.byte(body, at)
    if byte == QUOTE then break end
    -- An escape is cut before or behind it: two characters, or six.
    at = at + (byte ~= BACKSLASH and 1 or string.byte(body, at + 1) == UNICODE and 6 or 2)
  end
  return cjson.decode('["' .. string.sub(body, from, at - 1) .. '"]')[1]
end

-- A short state in full.
local function expand(text, body)
  local created, granted, rest = string.match(text, '^%l (%d+) (%S+) ?(.*)$')
  local task = cjson.decode(first_of(body))
  task.status, task.ticket, task.notBefore = 'pending', 0, nil
  task.token, task.spent, task.attempt = 0, 0, 0
  task.createdAt, task.log = tonumber(created), 'pending@' .. created
  if string.byte(text) == WAITING then
    task.gate = 'lane'
    return task
  end
  task.status, task.ticket, task.granted, task.queuedAt = 'queued', 1, true, tonumber(granted)
  task.log = task.log .. ';queued@' .. granted
  if string.byte(text) == QUEUED then return task end
  local started, worker, completed, usage = string.match(rest, '^(%d+) (%S+) ?(%d*) ?(%S*)$')
  task.status, task.worker = 'running', worker
  task.token, task.spent, task.attempt = 1, 1, 1
  task.scheduledAt, task.startedAt = tonumber(started), tonumber(started)
  task.log = task.log .. ';scheduled@' .. started .. ' ' .. timeline_note(worker) .. ';running@' .. started
  if completed == '' then return task end
  task.status, task.granted, task.completedAt, task.outcome = 'completed', nil, tonumber(completed), { kind = 'ran' }
  task.log = task.log .. ';completed@' .. completed
  if usage ~= '-' then task.usage = cjson.decode(usage) end
  return task
end

local function read_state(text, bodies, id)
  if is_short(text) then return expand(text, redis.call('HGET', bodies, id)) end
  return cjson.decode(text)
end

-- A state that is kept in full, or nil for a short one: enough for a caller that needs what no short state has.
local function full_state(text)
  if is_short(text) then return nil end
  return cjson.decode(text)
end

-- A task's state, or nil.
local function load_state(states, bodies, id)
  local text = redis.call('HGET', states, id)
  return text and read_state(text, bodies, id)
end

-- Whether two messages come from one sender with the same rights: only those become one turn, or go into each other's run.
local function same_sender(one, other)
  return one.user == other.user and one.visitor == other.visitor and one.untrusted == other.untrusted
end
