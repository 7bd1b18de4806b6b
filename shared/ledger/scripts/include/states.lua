-- A state is JSON. That of a task to which nothing happened but what happens to all is short: a letter and times (ms), because
-- reading and writing JSON would be most of what Redis does for it. What it began with is in its body.
--   w <created> <class>: it waits for its lane, and nothing but its turn matters
--   q <created> <granted>: it waits for a worker
--   r <created> <granted> <started> <worker>: its first attempt runs
--   c <created> <granted> <started> <worker> <completed> <usage, JSON, or ->: that attempt completed it
-- The name of a worker in one has no spaces.
-- shared/ledger/codec/state.ts reads and writes them too.
local JSON_BEGINS = string.byte('{')
local WAITING, QUEUED, RUNNING = string.byte('w'), string.byte('q'), string.byte('r')

local function is_short(text) return string.byte(text) ~= JSON_BEGINS end

-- The beginning of a text, at most so many bytes, cut between characters.
local function beginning_of(text, max_bytes)
  local last = math.min(#text, max_bytes)
  while last > 0 and (string.byte(text, last + 1) or 0) >= 128 and string.byte(text, last + 1) < 192 do last = last - 1 end
  return string.sub(text, 1, last)
end

local function worker_note(worker) return (string.gsub(beginning_of(worker, 200), '[;%c]', ',')) end

-- What a task began with, JSON: up to the body's next field, because what follows is its sender's.
local function first_of(body) return string.match(body, '^{"first":(.-),"id":"') end

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
  task.log = task.log .. ';scheduled@' .. started .. ' ' .. worker_note(worker) .. ';running@' .. started
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

-- Whether a state is one of a task that runs.
local function says_running(text)
  return string.byte(text) == RUNNING or string.find(text, '"status":"running"', 1, true) ~= nil
end

-- A task's state, or nil.
local function load_state(states, bodies, id)
  local text = redis.call('HGET', states, id)
  return text and read_state(text, bodies, id)
end
