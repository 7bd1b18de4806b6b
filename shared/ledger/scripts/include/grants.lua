local CLASSES = { 'd', 'p', 's', 'u', 'w' }

-- Whether the tenant's caps have room for one more grant of this class; a class is a letter and 0 (low) or 1.
local function has_room(book, class)
  local caps = book.caps
  if not caps then return true end
  if caps.running and count(book, 'granted=') >= caps.running then return false end
  local letter = string.sub(class, 1, 1)
  if caps[letter] and count(book, 'granted=' .. letter) >= caps[letter] then return false end
  if caps.low and string.sub(class, 2) == '0' then
    local low = 0
    for _, each in ipairs(CLASSES) do low = low + count(book, 'granted=' .. each .. '0') end
    if low >= caps.low then return false end
  end
  return true
end

-- From here on, what grants change in the keys that all tasks share is kept until `write_grants`, which writes each key once.
-- Not where there are caps: they count what is written.
local function gather_grants(book)
  if not book.caps then book.gathered = { unlisted = {}, listed = {}, owed = {}, states = {} } end
end

local function write_grants(book)
  local gathered = book.gathered
  if not gathered then return end
  book.gathered = nil
  call_many('ZREM', book.live, gathered.unlisted)
  call_many('ZADD', book.live, gathered.listed)
  call_many('ZADD', book.outbox, gathered.owed)
  call_many('HSET', book.states, gathered.states)
end

-- Gives a parked task permission to hold a ticket, and owes it one. Callers answer with `let_through`.
local function grant(book, id, task)
  local gathered = book.gathered
  if gathered then
    append(gathered.unlisted, task.status .. '/' .. id, backlog_member(task, id))
  else
    unlist(book, id, task)
  end
  if task.status ~= 'queued' then enter(book, task, 'queued') end
  task.granted, task.gate, task.notBefore = true, nil, nil
  task.queuedAt = task.queuedAt or book.now
  task.ticket = task.ticket + 1
  local state = cjson.encode(task)
  if gathered then
    append(gathered.listed, 0, granted_member(task, id))
    append(gathered.owed, book.now, book.tenant .. '/' .. id .. '.' .. task.ticket)
    append(gathered.states, id, state)
  else
    redis.call('ZADD', book.live, 0, granted_member(task, id))
    owe_tickets(book, id .. '.' .. task.ticket)
    redis.call('HSET', book.states, id, state)
  end
  book.granted[#book.granted + 1] = id
  append(book.granted, state, '')
end

-- The same for one that waits for its lane in short: its next state is short too. Not where there are caps.
local function grant_short(book, id, text)
  local created, class = string.match(text, '^w (%d+) (%S+)$')
  local state = 'q ' .. created .. ' ' .. book.stamp
  local gathered = book.gathered
  if gathered then
    gathered.unlisted[#gathered.unlisted + 1] = 'pending/' .. id
    append(gathered.listed, 0, 'granted=' .. class .. '/' .. id)
    append(gathered.owed, book.now, book.tenant .. '/' .. id .. '.1')
    append(gathered.states, id, state)
  else
    redis.call('ZREM', book.live, 'pending/' .. id)
    redis.call('ZADD', book.live, 0, 'granted=' .. class .. '/' .. id)
    owe_tickets(book, id .. '.1')
    redis.call('HSET', book.states, id, state)
  end
  book.granted[#book.granted + 1] = id
  append(book.granted, state, redis.call('HGET', book.bodies, id))
end

-- What a script says last: the tasks that were granted, for each its id, its state and, when that is short, its body, so that their
-- tickets are added at once and not by the sweep. They share one event.
local function let_through(book)
  local ids = {}
  for position = 1, #book.granted, 3 do ids[#ids + 1] = book.granted[position] end
  if #ids > 0 then emit(book, table.concat(ids, ','), 'task.queued') end
  return book.granted
end

-- Leaves a parked task in the tenant's backlog, from which `promote_backlog` takes the best first.
local function wait_in_backlog(book, id, task)
  task.gate = 'cap'
  redis.call('ZADD', book.live, 0, task.status .. '/' .. id, 0, backlog_member(task, id))
  redis.call('HSET', book.states, id, cjson.encode(task))
end

-- Grants a parked task, or leaves it in the tenant's backlog when a cap is full. Returns whether it was granted.
local function grant_or_backlog(book, id, task)
  if has_room(book, task.class) then
    grant(book, id, task)
    return true
  end
  wait_in_backlog(book, id, task)
  return false
end

local function backlog_head(book, class)
  local prefix = 'backlog=' .. class .. '/'
  local head = redis.call('ZRANGEBYLEX', book.live, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 1)[1]
  if head then return string.sub(head, #prefix + 1) end
  return nil
end

-- The best that the caps have room for: by priority, then by age. Returns its id, or nil.
local function best_of_backlog(book)
  local best
  for _, letter in ipairs(CLASSES) do
    for _, low in ipairs({ '1', '0' }) do
      local head = backlog_head(book, letter .. low)
      if head and (not best or head < best) and has_room(book, letter .. low) then best = head end
    end
  end
  return best and string.sub(best, 4)
end

-- How many parked tasks one step lets through, when caps grew meanwhile; the next step goes on.
local PROMOTE_MOST = 100

-- Grants what waits in the backlog while the caps have room. Without caps too: they may have been lifted.
local function promote_backlog(book)
  if #redis.call('ZRANGEBYLEX', book.live, '[backlog=', '(backlog=\255', 'LIMIT', 0, 1) == 0 then return end
  for _ = 1, PROMOTE_MOST do
    local id = best_of_backlog(book)
    if not id then return end
    grant(book, id, cjson.decode(redis.call('HGET', book.states, id)))
  end
end
