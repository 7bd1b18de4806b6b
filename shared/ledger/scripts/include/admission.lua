-- What a call lets in, gathered here so that `close_intake` writes each of the keys that all share once.
local function open_intake(rates, deadlines, ended, due, remember)
  return {
    rates = rates, deadlines = deadlines, ended = ended, due = due, remember = remember,
    index = {}, listed = {}, states = {}, owed = {}, created = {}, queued = {}, finished = { cancelled = {}, skipped = {} },
  }
end

-- Lets one task in, or says why not: it came before, its rate is used up, or what `step` says, which decides what it becomes.
-- `item`: its id, known_key (or nil), digest, rate_class (or empty), body and lookups.
local function let_in(book, intake, item, step)
  local known = item.known_key and redis.call('GET', item.known_key)
  if known then
    local first, known_digest = string.match(known, '^(%S+) (.*)$')
    return { known_digest == item.digest and 'duplicate' or 'conflict', first }
  end
  -- The client sends a call again when the reply was lost; its id tells. Before the limits, some of which it used up itself.
  if redis.call('HSETNX', book.bodies, item.id, item.body) == 0 then return { 'duplicate', item.id } end
  local after, rate_writes = 0, {}
  if item.rate_class ~= '' then after, rate_writes = check_rates(book, book.rates, item.rate_class, intake.rates) end
  if after > 0 then
    redis.call('HDEL', book.bodies, item.id)
    return { 'rate', math.ceil(after), rate_writes }
  end
  local answer = step()
  if answer[1] ~= 'accepted' then
    redis.call('HDEL', book.bodies, item.id)
    return answer
  end
  if item.known_key then redis.call('SET', item.known_key, item.id .. ' ' .. item.digest, 'PX', intake.remember) end
  if #rate_writes > 0 then redis.call('HSET', intake.rates, unpack(rate_writes)) end
  for _, lookup in ipairs(item.lookups) do append(intake.index, 0, lookup .. '/' .. item.id) end
  intake.created[#intake.created + 1] = item.id
  return answer
end

-- Begins the state of a task that comes in. Returns whether it is due.
local function begin_task(book, task)
  task.createdAt, task.ticket, task.token, task.spent, task.attempt = book.now, 0, 0, 0, 0
  local is_due = not task.notBefore or task.notBefore <= book.now
  if is_due then task.notBefore = nil end
  return is_due
end

-- The refusal of a task that would have to wait, when as many of its tenant wait as may; nil when it may. `freed`: how many
-- of those it ends itself.
local function refuse_waiting(book, freed)
  if not book.waiting then return nil end
  local waiting = count(book, 'pending/') - freed
  if waiting < book.waiting then return nil end
  return { 'waiting', waiting }
end

-- Puts a new task into the live lookups: at once, or with all others of the call where nobody looks there meanwhile.
local function list_live(book, intake, member)
  if not intake.gathers then
    redis.call('ZADD', book.live, 0, member)
    return
  end
  append(intake.listed, 0, member)
end

-- Keeps the short state of a task that is granted at once: now, or with all others of the call.
local function keep_short(book, intake, id)
  local state = 'q ' .. book.stamp .. ' ' .. book.stamp
  if not intake.gathers then
    redis.call('HSET', book.states, id, state)
    return
  end
  append(intake.states, id, state)
end

-- Whether nothing but its first state and its turn matters of a task that has begun.
local function is_ordinary(task)
  return not (task.deadline or task.collect or task.inputs or task.leftOut or task.sharedLanes)
end

-- Accepts a task that has begun: it waits for its time, its lane or its caps, or it may run now. Returns its answer.
local function admit(book, intake, id, keys, task)
  enter(book, task, 'pending')
  if task.deadline then redis.call('ZADD', intake.deadlines, task.deadline, book.tenant .. '/' .. id) end
  if task.notBefore then
    task.gate = 'time'
    redis.call('ZADD', book.live, 0, 'pending/' .. id)
    wait_until_due(book, intake.due, id, task.notBefore)
    save_task(book, id, task)
    return { 'accepted', 'pending', 'time', 0 }
  end
  if not join_lane(book, keys.held, keys.wait, id, task, keys.is_free) then
    list_live(book, intake, 'pending/' .. id)
    if is_ordinary(task) and task.gate == 'lane' and not task.order then
      -- At once: who comes next looks at the line.
      redis.call('HSET', book.states, id, 'w ' .. book.stamp .. ' ' .. task.class)
    else
      save_task(book, id, task)
    end
    return { 'accepted', 'pending', task.gate, ahead_in_lanes(book, keys.held, keys.wait, id, task) }
  end
  if not has_room(book, task.class) then
    grant_or_backlog(book, id, task)
    return { 'accepted', 'pending', 'cap', count(book, 'pending/') - 1 }
  end
  enter(book, task, 'queued')
  task.granted, task.queuedAt, task.ticket = true, book.now, 1
  list_live(book, intake, granted_member(task, id))
  intake.owed[#intake.owed + 1], intake.queued[#intake.queued + 1] = id .. '.1', id
  if is_ordinary(task) then keep_short(book, intake, id) else save_task(book, id, task) end
  return { 'accepted', 'queued', '', 0 }
end

-- Accepts a task that is not to run: its outcome says why. Returns its answer.
local function admit_ended(book, intake, id, task, status)
  enter(book, task, 'pending')
  enter(book, task, status, task.outcome.reason)
  task.completedAt, task.notBefore = book.now, nil
  save_task(book, id, task)
  redis.call('ZADD', book.index, 0, 'status=' .. status .. '/' .. id)
  tell_end(book, intake.ended, id, task)
  table.insert(intake.finished[status], id)
  return { 'accepted', status, '', 0, cjson.encode(task.outcome) }
end

-- The outcome of a message that comes to a line of `waiting` in which no more may wait, or nil.
local function outcome_of_full_line(book, waiting)
  if waiting < book.maxInLine then return nil end
  return { kind = 'dropped', reason = waiting .. ' messages wait in this lane already' }
end

-- Writes what was gathered. Returns the outbox entry of the tickets owed, or an empty text.
local function close_intake(book, intake)
  local entry = table.concat(intake.owed, ',')
  if #intake.index > 0 then redis.call('ZADD', book.index, unpack(intake.index)) end
  call_many('ZADD', book.live, intake.listed)
  call_many('HSET', book.states, intake.states)
  if entry ~= '' then owe_tickets(book, entry) end
  if #intake.created > 0 then emit(book, table.concat(intake.created, ','), 'task.created') end
  if #intake.queued > 0 then emit(book, table.concat(intake.queued, ','), 'task.queued') end
  for status, ids in pairs(intake.finished) do
    if #ids > 0 then emit(book, table.concat(ids, ','), 'task.' .. status) end
  end
  return entry
end
