local CLASSES = { 'd', 'p', 's', 'u', 'w' }
-- What a task waits for behind its own lane; in one table, because a script has at most 200 names. See gates.lua, which lists them.
local gates = {}

-- How many grants have a prefix. A script that accepts tasks reads it once: it counts its own, and forgets what other changes make wrong.
local function count_grants(context, class)
  local counts = context.counts
  local known = counts and counts[class]
  if known then return known end
  known = count(context, 'granted=' .. class)
  if counts then counts[class] = known end
  return known
end

local function forget_counts(context) context.counts = context.counts and {} end

local function count_new_grants(context, class, new)
  local counts, letter = context.counts, string.sub(class, 1, 1)
  if counts[''] then counts[''] = counts[''] + new end
  if counts[letter] then counts[letter] = counts[letter] + new end
  if counts[class] then counts[class] = counts[class] + new end
end

-- Takes the task out of the live lookups, and takes back its ticket, wherever it is in them.
local function unlist(context, id, task)
  forget_counts(context)
  if task.granted then
    -- The caps may have room now.
    context.opened = context.opened or {}
    redis.call('ZREM', context.live, granted_member(task, id))
    if task.status ~= 'running' then withdraw_ticket(context, id, task) end
  else
    redis.call('ZREM', context.live, task.status .. '/' .. id, backlog_member(task, id))
    if task.hold then redis.call('ZREM', context.live, hold_member(task, id)) end
  end
end

local function count_low(context)
  local low = 0
  for _, each in ipairs(CLASSES) do low = low + count_grants(context, each .. '0') end
  return low
end

-- Whether the tenant's share of the fleet's caps has room. A share holds until a time: another may hold everywhere else after that.
local function share_has_room(context, share, class, new)
  local letter, is_low = string.sub(class, 1, 1), string.sub(class, 2) == '0'
  if (share[letter] or is_low and share.low) and share.ends <= context.now then return false end
  if share[letter] and count_grants(context, letter) + new > share[letter] then return false end
  return not (is_low and share.low and count_low(context) + new > share.low)
end

-- Whether the tenant's caps have room for so many more grants of this class, one unless `new` says otherwise; a class is a letter and 0
-- (low) or 1.
local function has_room(context, class, new)
  local caps = context.caps
  if not caps then return true end
  new = new or 1
  if caps.running and count_grants(context, '') + new > caps.running then return false end
  local letter, is_low = string.sub(class, 1, 1), string.sub(class, 2) == '0'
  if caps[letter] and count_grants(context, letter) + new > caps[letter] then return false end
  if caps.low and is_low and count_low(context) + new > caps.low then return false end
  return not caps.fleet or share_has_room(context, caps.fleet, class, new)
end

-- Whether the tenant has no share of the fleet's caps for this class, so that nobody knows when a task of it runs.
local function is_shut(context, class)
  local fleet = context.caps and context.caps.fleet or {}
  return fleet[string.sub(class, 1, 1)] == 0 or string.sub(class, 2) == '0' and fleet.low == 0
end

-- From here on, what grants change in the keys that all tasks share is gathered until `write_grants`, which writes each key once.
-- Not where there are caps: they count what is written.
local function gather_grants(context)
  if not context.caps then context.gathered = { unlisted = {}, listed = {}, states = {} } end
end

local function write_grants(context)
  local gathered = context.gathered
  if not gathered then return end
  context.gathered = nil
  call_many('ZREM', context.live, gathered.unlisted)
  call_many('ZADD', context.live, gathered.listed)
  call_many('HSET', context.states, gathered.states)
end

-- Grants a parked task, which gets a ticket. Callers reply with `publish_granted`. `is_plain`: nothing else of its state changes, which has no tail.
local function grant(context, id, task, is_plain)
  forget_counts(context)
  local gathered = context.gathered
  if gathered then
    append(gathered.unlisted, task.status .. '/' .. id, backlog_member(task, id))
  else
    unlist(context, id, task)
  end
  if task.status ~= 'queued' then enter(context, task, 'queued') end
  task.granted, task.gate, task.notBefore, task.preempts = true, nil, nil, nil
  task.queuedAt = task.queuedAt or context.now
  task.ticket = task.ticket + 1
  local state = write_state(task, is_plain)
  if gathered then
    append(gathered.listed, '0', granted_member(task, id))
    append(gathered.states, id, state)
  else
    redis.call('ZADD', context.live, '0', granted_member(task, id))
    redis.call('HSET', context.states, id, state)
  end
  give_ticket(context, id, task)
  context.granted[#context.granted + 1] = id
end

-- The end of a script that may have granted tasks: they share one event. Returns the first part of its reply, the tickets that are to be
-- added to BullMQ at once and not by the sweep.
local function publish_granted(context)
  if context.opened then gates.open(context) end
  if #context.granted > 0 then emit(context, table.concat(context.granted, ','), TRANSITIONS.pending.queued) end
  return close_dispatch(context)
end
