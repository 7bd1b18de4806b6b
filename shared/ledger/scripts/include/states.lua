-- The codec of states and bodies, beside shared/ledger/codec in TypeScript. Nothing else knows how they are written.
-- A state is a head and a tail, separated by single spaces; a word that is absent is `-`:
--   =<status> <created> <class> <ticket> <token> <attempt> <queued> <started> <worker> <completed> <usage> <tail>
-- Scripts of 0.1 know states that begin with a letter or `{`: at the `=` they fail and change nothing, should a process of it come back. That of a
-- suspended run begins with `~`, at which those of 0.2.0 fail, which may run beside this release: they would take it out of the line at its gate.
-- Times are ms. `usage`: JSON with finishReason. `tail`: JSON of all else, or `-` for a task with an ordinary life: it is as it began, which its
-- body says, waited for its own lane at most, and its first attempt runs or completed it. Reading and writing JSON would be most of what Redis
-- does for such a task.
local QUOTE, BACKSLASH, UNICODE = string.byte('"'), string.byte('\\'), string.byte('u')

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

-- The states of new tasks that are ordinary until now: of one that waits for its lane, and of one that is granted.
local function waiting_state(stamp, class) return '=pending ' .. stamp .. ' ' .. class .. ' 0 0 0 - - - - - -' end

-- By class: all that a call accepts is of one time.
local queued_states = {}
local function queued_state(stamp, class)
  local known = queued_states[class]
  if known then return known end
  known = '=queued ' .. stamp .. ' ' .. class .. ' 1 0 0 ' .. stamp .. ' - - - - -'
  queued_states[class] = known
  return known
end

-- The state of an ordinary task that waits for a worker, once its first attempt runs; nil for any other. `worker`: its name as a word.
local function started_state(text, stamp, worker)
  local accepted, queued = string.match(text, '^=queued (%d+ [^ ]+) 1 0 0 (%d+) %- %- %- %- %-$')
  return accepted and '=running ' .. accepted .. ' 1 1 1 ' .. queued .. ' ' .. stamp .. ' ' .. worker .. ' - - -'
end

-- Whether a state has no tail, by its head.
local function is_plain_head(head) return head.tail == '-' end

local to_word, from_word, read_head, write_head, read_known, complete_state, write_state
do
  local HEAD = '^[=~](%l[%l_]+) (%d+) ([^ ]+) (%d+) (%d+) (%d+) ([%d-]+) ([%d-]+) ([^ ]+) ([%d-]+) ([^ ]+) (.+)$'

  -- A text as one word of a head.
  function to_word(text)
    if text == '-' then return '%2D' end
    return (string.gsub(text, '[%% ]', { ['%'] = '%25', [' '] = '%20' }))
  end

  function from_word(word)
    if word == '-' then return nil end
    return (string.gsub(word, '%%(%x%x)', function(code) return string.char(tonumber(code, 16)) end))
  end

  function write_head(head)
    return (head.status == 'suspended' and '~' or '=') .. table.concat({
      head.status, head.createdAt, head.class or '-', head.ticket, head.token, head.attempt, head.queuedAt or '-', head.startedAt or '-',
      head.worker or '-', head.completedAt or '-', head.usage or '-', head.tail,
    }, ' ')
  end

  local IN_HEAD = {
    status = true, createdAt = true, class = true, ticket = true, token = true, attempt = true, queuedAt = true, startedAt = true, worker = true,
    completedAt = true, usage = true,
  }

  -- The usage with the finishReason as one word.
  local function usage_word(task)
    local usage = {}
    for name, value in pairs(task.usage) do usage[name] = value end
    usage.finishReason = task.finishReason
    return (string.gsub(cjson.encode(usage), ' ', '\\u0020'))
  end

  -- A state as text. `is_plain`: it was read without a tail, and nothing but its head has changed.
  function write_state(task, is_plain)
    local rest = {}
    for name, value in pairs(is_plain and {} or task) do
      if not IN_HEAD[name] then rest[name] = value end
    end
    if task.usage then rest.finishReason = nil end
    return write_head({
      status = task.status, createdAt = task.createdAt, class = task.class, ticket = task.ticket, token = task.token, attempt = task.attempt,
      queuedAt = task.queuedAt, startedAt = task.startedAt, worker = task.worker and to_word(task.worker), completedAt = task.completedAt,
      usage = task.usage and usage_word(task), tail = is_plain and '-' or cjson.encode(rest),
    })
  end

  local STATUS_OF_0_1 = { w = 'pending', q = 'queued', r = 'running', c = 'completed' }

  -- A state of release 0.1 in the form of today: that was JSON or, of an ordinary task, a letter and times.
  local function convert_0_1(text)
    if string.sub(text, 1, 1) == '{' then return write_state(cjson.decode(text)) end
    local letter, created, queued, started, worker, completed, usage = string.match(text, '^(%l) (%d+) (%S+) ?(%d*) ?(%S*) ?(%d*) ?(%S*)$')
    local head = { status = STATUS_OF_0_1[letter], createdAt = created, ticket = '1', token = '0', attempt = '0', tail = '-' }
    if not head.status then error({ err = 'ERR no state of a task' }) end
    if letter == 'w' then
      head.class, head.ticket = queued, '0'
      return write_head(head)
    end
    head.queuedAt = queued
    if letter ~= 'q' then head.token, head.attempt, head.startedAt, head.worker = '1', '1', started, to_word(worker) end
    if letter == 'c' then head.completedAt, head.usage = completed, usage end
    return write_head(head)
  end

  -- The head of a state, its words as text, and the tail.
  function read_head(text)
    local status, created, class, ticket, token, attempt, queued, started, worker, completed, usage, tail = string.match(text, HEAD)
    if not status then return read_head(convert_0_1(text)) end
    return {
      status = status, createdAt = created, class = class, ticket = ticket, token = token, attempt = attempt, queuedAt = queued,
      startedAt = started, worker = worker, completedAt = completed, usage = usage, tail = tail,
    }
  end

  -- What a state says without the body of its task, and whether that is its head alone.
  function read_known(text)
    local head = read_head(text)
    local is_plain = is_plain_head(head)
    local task = is_plain and {} or cjson.decode(head.tail)
    task.status, task.createdAt, task.class = head.status, tonumber(head.createdAt), from_word(head.class)
    task.ticket, task.token, task.attempt = tonumber(head.ticket), tonumber(head.token), tonumber(head.attempt)
    task.queuedAt, task.startedAt, task.completedAt = tonumber(head.queuedAt), tonumber(head.startedAt), tonumber(head.completedAt)
    task.worker = from_word(head.worker)
    if head.usage ~= '-' then
      task.usage = cjson.decode(head.usage)
      task.finishReason, task.usage.finishReason = task.usage.finishReason or task.finishReason, nil
    end
    return task, is_plain
  end

  -- The timeline of an ordinary task.
  local function plain_log(known)
    local log = 'pending@' .. known.createdAt
    if known.queuedAt then log = log .. ';queued@' .. known.queuedAt end
    if known.startedAt then log = log .. ';scheduled@' .. known.startedAt .. ' ' .. timeline_note(known.worker) .. ';running@' .. known.startedAt end
    return known.completedAt and log .. ';completed@' .. known.completedAt or log
  end

  -- All of a state whose head alone is known: its task is as its body says that it began.
  function complete_state(known, body)
    local task = cjson.decode(first_of(body))
    -- A head of 0.1 has no class.
    local class = task.class
    for name, value in pairs(known) do task[name] = value end
    task.class, task.notBefore, task.spent, task.scheduledAt, task.log = class, nil, known.token, known.startedAt, plain_log(known)
    if known.status == 'pending' then task.gate = 'lane' elseif known.completedAt then task.outcome = { kind = 'ran' } else task.granted = true end
    return task
  end
end

local function read_state(text, bodies, id)
  local known, is_plain = read_known(text)
  return is_plain and complete_state(known, redis.call('HGET', bodies, id)) or known
end

-- The same for a body that was read.
local function read_state_of(text, body)
  local known, is_plain = read_known(text)
  return is_plain and complete_state(known, body) or known
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
