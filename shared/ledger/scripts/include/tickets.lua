-- The places of tickets: out at once while their window has room and nothing is ready, else ready. Calls that run together place the tickets
-- of all their tenants, and write them once.

local open_dispatch, open_level, add_to_window, place_ticket, issue_tickets, give_ticket, write_placed
do
  local function no_placed() return { ready = {}, window = {}, outbox = {}, joiners = {} } end

  -- What is known of the shard's tickets, in `shard`, and of the tenant's own by level, in `own`.
  function open_dispatch(context, ready, window, turns, weights)
    context.ready, context.window, context.turns, context.weights = ready, window, turns, weights
    context.shard = joined and joined.shard or { levels = {}, tickets = {}, placed = no_placed() }
    context.own = {}
    if joined then joined.shard, joined.context = context.shard, context end
  end

  -- What the first ticket of this call, or of those that run with it, finds at its level, for all that follow.
  function open_level(context, prefix)
    local shard = context.shard
    local level = shard.levels[prefix]
    if level then return level end
    local number, queue = level_number(prefix)
    level = { prefix = prefix, number = number, queue = queue, placed = 0, room = room_of(context, number, queue) }
    for _, each in pairs(shard.levels) do
      if each.queue == queue and each.number < number then level.room = level.room - each.placed end
    end
    if shard.has_ready == nil then shard.has_ready = redis.call('EXISTS', context.ready) == 1 end
    local best = shard.has_ready and first_ready(context, queue .. '/')[1]
    if best then
      local best_prefix = string.match(best, '^[^/]+/%d+/')
      level.has_better = best_prefix < prefix
      level.has_ready = best_prefix == prefix or level.has_better and first_ready(context, prefix)[1] ~= nil
    end
    -- Of any tenant, before this call.
    level.had_ready = level.has_ready
    shard.levels[prefix] = level
    return level
  end

  -- The tenant's own part of a level.
  local function own_at(context, level)
    local own = context.own[level.prefix] or {}
    context.own[level.prefix] = own
    return own
  end

  -- How many ready tickets the tenant has at this level, with those of this call.
  local function count_ready(context, level)
    local own = own_at(context, level)
    if not own.ready then
      local prefix = level.prefix .. context.tenant .. '/'
      own.ready = level.had_ready and redis.call('ZLEXCOUNT', context.ready, '[' .. prefix, '(' .. prefix .. '\255') or 0
    end
    return own.ready
  end

  -- Whether the tenant has tickets at this level or a better one of its queue that no worker has claimed. Levels without a ticket of any
  -- tenant are passed over.
  local function has_own(context, level)
    if count_ready(context, level) > 0 then return true end
    local first = first_level(level.queue)
    local is_better_out = redis.call('ZCOUNT', context.window, first * FLOWS, level.number * FLOWS - 1) > 0
    for number = is_better_out and first or level.number, level.number do
      local score = window_score(number, context.tenant)
      if redis.call('ZCOUNT', context.window, score, score) > 0 then return true end
    end
    local best = context.shard.has_ready and first_ready(context, level.queue .. '/')[1]
    for number = best and level_number(best) or level.number + 1, level.number do
      if first_ready(context, level_prefix(level.queue, RANKS - number % RANKS) .. context.tenant .. '/')[1] then return true end
    end
    return false
  end

  -- Whether the tenant has nothing that waits and has not had more than its share: it need not wait for the tenants that keep the queue full.
  local function may_go_ahead(context, level)
    -- A free slot would find it in BullMQ before it asks for what is ready.
    if context.direct and level.has_better then return false end
    -- As many as the window holds, whatever the number of tenants; others have the first turns.
    if level.room <= -window_size(context, level.queue) then return false end
    local own = own_at(context, level)
    if own.has_tickets == nil then own.has_tickets = has_own(context, level) end
    return not own.has_tickets and own_turn(context, level) <= time_of(context, level)
  end

  -- Whether a ticket that its sla brings forward goes before the unclaimed ones of its level: all of them are its tenant's own.
  local function may_overtake_own(context, level, text)
    if #string.match(text, '^[^/]+/%d+/[^/]+/(%d+)/') == TIME_DIGITS then return false end
    local score, first = window_score(level.number, context.tenant), level.number * FLOWS
    local own = redis.call('ZCOUNT', context.window, score, score)
    return own > 0 and own == redis.call('ZCOUNT', context.window, first, first + FLOWS - 1)
  end

  function add_to_window(context, level, tenant, id)
    append(context.shard.placed.window, window_score(level.number, tenant), tenant .. '/' .. id)
    level.placed = (level.placed or 0) + 1
    for _, each in pairs(context.shard.levels) do
      if each.queue == level.queue and each.number >= level.number then each.room = each.room - 1 end
    end
  end

  -- Returns how many ready tickets of its tenant are before it.
  local function add_to_ready(context, level, text)
    local shard, own = context.shard, own_at(context, level)
    local before = count_ready(context, level)
    if not own.joins then
      own.joins = true
      append(shard.placed.joiners, level, context)
    end
    append(shard.placed.ready, 0, text)
    level.has_ready, own.has_tickets, shard.has_ready = true, true, true
    for _, each in pairs(shard.levels) do
      each.has_better = each.has_better or each.queue == level.queue and each.number > level.number
    end
    -- The window has grown: tickets that were ready before this one go first.
    if level.room > 0 then shard.has_room = true end
    own.ready = before + 1
    return before
  end

  -- Lets the ticket of a granted task out, or adds it to the ready ones. Returns its name in the outbox, `<task>.<number>` and perhaps
  -- `.ahead`; or nil, and how many ready tickets of its tenant are before it.
  function place_ticket(context, id, number, text)
    local level = open_level(context, string.match(text, '^[^/]+/%d+/'))
    local name = id .. '.' .. number
    local is_free = level.room > 0 and not level.has_ready and not level.has_better
    local overtakes = is_free and may_overtake_own(context, level, text)
    if not is_free and not may_go_ahead(context, level) then return nil, add_to_ready(context, level, text) end
    add_to_window(context, level, context.tenant, id)
    own_at(context, level).has_tickets = true
    if is_free then return overtakes and name .. '.ahead' or name end
    local cost = tonumber(string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/(%d+)/'))
    local start = join_turns(context, level, { context })
    redis.call('ZADD', context.turns, turn_after(context, context.tenant, start, cost), level.prefix .. context.tenant)
    return name .. '.ahead'
  end

  -- Notes tickets that are out: for the reply, and for the outbox, where they stand under one entry until they are in BullMQ.
  function issue_tickets(context, entry, texts)
    local shard = context.shard
    append(shard.placed.outbox, context.now, entry)
    for position, text in ipairs(texts) do append(shard.tickets, position == 1 and entry or '', text) end
  end

  -- Gives a task that was granted now its ticket.
  function give_ticket(context, id, task)
    local text = ticket_text(context, id, task)
    local name = place_ticket(context, id, task.ticket, text)
    if name then issue_tickets(context, context.tenant .. '/' .. name, { text }) end
  end

  -- Writes the tickets that were placed.
  function write_placed(context)
    local shard = context.shard
    local placed, lines = shard.placed, {}
    shard.placed = no_placed()
    call_many('ZADD', context.ready, placed.ready)
    call_many('ZADD', context.window, placed.window)
    call_many('ZADD', context.outbox, placed.outbox)
    for _, level in pairs(shard.levels) do level.placed = 0 end
    for position = 1, #placed.joiners, 2 do
      local level, joiner = placed.joiners[position], placed.joiners[position + 1]
      own_at(joiner, level).joins = nil
      lines[level] = lines[level] or {}
      table.insert(lines[level], joiner)
    end
    for level, joiners in pairs(lines) do join_turns(context, level, joiners) end
  end
end

-- Takes the ticket of a task that is not to run now back, wherever it is.
local function withdraw_ticket(context, id, task)
  local shard = context.shard
  write_placed(context)
  shard.levels, shard.has_ready, context.own = {}, nil, {}
  if redis.call('ZREM', context.window, shard_member(context, id)) == 1 then
    shard.has_room = true
  else
    drop_ready(context, id, task)
  end
end

-- The ticket of a task that goes on at once returns to its place in BullMQ, whatever the room.
local function return_ticket(context, id, prefix)
  -- What is ready may be better.
  context.shard.has_room = context.shard.has_room or context.direct
  add_to_window(context, open_level(context, prefix), context.tenant, id)
end

-- Tickets that a worker has used leave the window.
local function use_tickets(context, ids)
  if #ids == 0 then return end
  write_placed(context)
  local members = {}
  for position, id in ipairs(ids) do members[position] = shard_member(context, id) end
  context.shard.has_room = true
  if redis.call('ZREM', context.window, unpack(members)) == #ids or redis.call('EXISTS', context.ready) == 0 then return end
  -- An older ticket of a task may come while its newest is ready.
  for _, id in ipairs(ids) do
    local task = load_task(context, id)
    if task then drop_ready(context, id, task) end
  end
end
