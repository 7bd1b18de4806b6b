-- Lets tickets out into the windows: at once while there is room and nothing is ready, else by turns.

-- Tickets that one call lets out of the ready ones at most; the next call goes on.
local MAX_DISPATCHED = 200
-- Tickets of one tenant that share an entry of the outbox at most.
local MAX_ENTRY = 32

local function open_dispatch(context, ready, window, turns, weights)
  context.ready, context.window, context.turns, context.weights = ready, window, turns, weights
  context.levels, context.tickets = {}, {}
  context.placed = { ready = {}, window = {}, outbox = {} }
end

-- What the first ticket of this call finds at its level, for all that follow.
local function open_level(context, prefix)
  local level = context.levels[prefix]
  if level then return level end
  local number, queue = level_number(prefix)
  level = { prefix = prefix, number = number, queue = queue, room = room_of(context, number, queue) }
  if context.has_ready == nil then context.has_ready = redis.call('EXISTS', context.ready) == 1 end
  local best = context.has_ready and first_ready(context, queue .. '/')[1]
  if best then
    local best_prefix = string.match(best, '^[^/]+/%d+/')
    level.is_behind = best_prefix < prefix
    level.has_ready = best_prefix == prefix or level.is_behind and first_ready(context, prefix)[1] ~= nil
  end
  context.levels[prefix] = level
  return level
end

-- Whether the tenant has tickets at this level or a better one of its queue that no worker has claimed. Levels without a ticket of any
-- tenant are passed over.
local function has_own(context, level)
  local first = first_level(level.queue)
  local is_better_out = redis.call('ZCOUNT', context.window, first * FLOWS, level.number * FLOWS - 1) > 0
  for number = is_better_out and first or level.number, level.number do
    local score = window_score(number, context.tenant)
    if redis.call('ZCOUNT', context.window, score, score) > 0 then return true end
  end
  local best = context.has_ready and first_ready(context, level.queue .. '/')[1]
  for number = best and level_number(best) or level.number + 1, level.number do
    if first_ready(context, level_prefix(level.queue, RANKS - number % RANKS) .. context.tenant .. '/')[1] then return true end
  end
  return false
end

-- Whether the tenant has nothing that waits and has not had more than its share: it need not wait for the tenants that keep the queue full.
local function may_go_ahead(context, level)
  -- A free slot would find it in BullMQ before it asks for what is ready.
  if context.direct and level.is_behind then return false end
  if level.has_own == nil then level.has_own = has_own(context, level) end
  return not level.has_own and own_turn(context, level) <= time_of(context, level)
end

-- Whether a ticket that its sla brings forward goes before the unclaimed ones of its level: all of them are its tenant's own.
local function may_overtake_own(context, level, text)
  if #string.match(text, '^[^/]+/%d+/[^/]+/(%d+)/') == TIME_DIGITS then return false end
  local score, first = window_score(level.number, context.tenant), level.number * FLOWS
  local own = redis.call('ZCOUNT', context.window, score, score)
  return own > 0 and own == redis.call('ZCOUNT', context.window, first, first + FLOWS - 1)
end

local function add_to_window(context, level, tenant, id)
  append(context.placed.window, window_score(level.number, tenant), tenant .. '/' .. id)
  for _, each in pairs(context.levels) do
    if each.queue == level.queue and each.number >= level.number then each.room = each.room - 1 end
  end
end

-- Returns how many ready tickets of its tenant are before it.
local function add_to_ready(context, level, text)
  if not level.before then
    local prefix = level.prefix .. context.tenant .. '/'
    level.before = redis.call('ZLEXCOUNT', context.ready, '[' .. prefix, '(' .. prefix .. '\255')
    level.joins = true
  end
  append(context.placed.ready, 0, text)
  level.has_ready, level.has_own, context.has_ready = true, true, true
  for _, each in pairs(context.levels) do
    each.is_behind = each.is_behind or each.queue == level.queue and each.number > level.number
  end
  -- The window has grown: tickets that were ready before this one go first.
  if level.room > 0 then context.has_room = true end
  level.before = level.before + 1
  return level.before - 1
end

-- Lets the ticket of a granted task out, or adds it to the ready ones. Returns its name in the outbox, `<task>.<number>` and perhaps
-- `.ahead`; or nil, and how many ready tickets of its tenant are before it.
local function place_ticket(context, id, number, text)
  local level = open_level(context, string.match(text, '^[^/]+/%d+/'))
  local name = id .. '.' .. number
  local is_free = level.room > 0 and not level.has_ready and not level.is_behind
  local overtakes = is_free and may_overtake_own(context, level, text)
  if not is_free and not may_go_ahead(context, level) then return nil, add_to_ready(context, level, text) end
  add_to_window(context, level, context.tenant, id)
  level.has_own = true
  if is_free then return overtakes and name .. '.ahead' or name end
  local cost = tonumber(string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/(%d+)/'))
  charge(context, level, context.tenant, join_turns(context, level), cost)
  return name .. '.ahead'
end

-- Notes tickets that are out: for the reply, and for the outbox, where they stand under one entry until they are in BullMQ.
local function issue_tickets(context, entry, texts)
  append(context.placed.outbox, context.now, entry)
  for position, text in ipairs(texts) do append(context.tickets, position == 1 and entry or '', text) end
end

-- Gives a task that was granted now its ticket.
local function give_ticket(context, id, task)
  local text = ticket_text(context, id, task)
  local name = place_ticket(context, id, task.ticket, text)
  if name then issue_tickets(context, context.tenant .. '/' .. name, { text }) end
end

-- Writes the tickets that were placed.
local function write_placed(context)
  local placed = context.placed
  context.placed = { ready = {}, window = {}, outbox = {} }
  call_many('ZADD', context.ready, placed.ready)
  call_many('ZADD', context.window, placed.window)
  call_many('ZADD', context.outbox, placed.outbox)
  for _, level in pairs(context.levels) do
    if level.joins then join_turns(context, level) end
    level.joins = nil
  end
end

-- Takes the ticket of a task that is not to run now back, wherever it is.
local function withdraw_ticket(context, id, task)
  write_placed(context)
  context.levels, context.has_ready = {}, nil
  if redis.call('ZREM', context.window, shard_member(context, id)) == 1 then
    context.has_room = true
  else
    drop_ready(context, id, task)
  end
end

-- The ticket of a task that goes on at once returns to its place in BullMQ, whatever the room.
local function return_ticket(context, id, prefix)
  -- What is ready may be better.
  context.has_room = context.has_room or context.direct
  add_to_window(context, open_level(context, prefix), context.tenant, id)
end

-- Tickets that a worker has used leave the window.
local function use_tickets(context, ids)
  if #ids == 0 then return end
  write_placed(context)
  local members = {}
  for position, id in ipairs(ids) do members[position] = shard_member(context, id) end
  context.has_room = true
  if redis.call('ZREM', context.window, unpack(members)) == #ids or redis.call('EXISTS', context.ready) == 0 then return end
  -- An older ticket of a task may come while its newest is ready.
  for _, id in ipairs(ids) do
    local task = load_task(context, id)
    if task then drop_ready(context, id, task) end
  end
end

-- Lets ready tickets of one level out by turns, at most `room`; with `is_apart`, each under its own entry. Returns how many.
local function take_turns(context, level, room)
  local left = room
  while left > 0 do
    local tenant, start, has_rival = next_turn(context, level)
    if not tenant then
      local first = first_ready(context, level.prefix)[1]
      if not first then break end
      -- Should the turns be lost, they begin anew.
      tenant, start, has_rival = string.match(first, '^[^/]+/%d+/([^/]+)/'), level.number * TIMES, true
    end
    local texts = first_ready(context, level.prefix .. tenant .. '/', has_rival and 1 or math.min(left, MAX_ENTRY))
    redis.call('ZREMRANGEBYLEX', context.ready, '[' .. texts[1], '[' .. texts[#texts])
    local names, cost = {}, 0
    for position, text in ipairs(texts) do
      local id, number, each = string.match(text, '^%d+/([^/.]+)%.(%d+)/(%d+)/', #level.prefix + #tenant + #'/' + 1)
      add_to_window(context, level, tenant, id)
      names[position], cost = id .. '.' .. number, cost + each
    end
    if level.is_apart then
      for position, name in ipairs(names) do issue_tickets(context, tenant .. '/' .. name, { texts[position] }) end
    else
      issue_tickets(context, tenant .. '/' .. table.concat(names, ','), texts)
    end
    charge(context, level, tenant, start, cost)
    left = left - #texts
  end
  return room - left
end

-- Whether a ticket of a worse level is out: free slots would find it in BullMQ before they ask for what is ready.
local function is_overtaken(context, number, queue)
  local last = first_level(queue) + RANKS
  return redis.call('ZCOUNT', context.window, (number + 1) * FLOWS, last * FLOWS - 1) > 0
end

-- Fills the windows from the ready tickets: queue by queue, the best level first. Where slots take ready tickets by themselves, only those
-- windows that would keep them from it.
local function dispatch(context)
  context.levels = {}
  if redis.call('EXISTS', context.ready, context.turns) == 0 then return end
  local from, left = '-', MAX_DISPATCHED
  while left > 0 do
    local first = redis.call('ZRANGEBYLEX', context.ready, from, '+', 'LIMIT', 0, 1)[1]
    if not first then break end
    local prefix = string.match(first, '^[^/]+/%d+/')
    local number, queue = level_number(prefix)
    local room = math.min(room_of(context, number, queue), left, context.max or left)
    if context.direct and not is_overtaken(context, number, queue) then room = 0 end
    local taken = take_turns(context, { prefix = prefix, number = number, queue = queue, has_ready = true }, room)
    left = left - taken
    write_placed(context)
    from = '(' .. (taken < room and prefix or queue .. '/') .. '\255'
  end
  end_turns(context)
end

-- The end of a script: writes what it placed, and fills the room that it made. Returns the tickets that are out, for BullMQ: entry in the
-- outbox, empty for that of the ticket before, and text of each.
local function close_dispatch(context)
  write_placed(context)
  if context.has_room then dispatch(context) end
  return context.tickets
end
