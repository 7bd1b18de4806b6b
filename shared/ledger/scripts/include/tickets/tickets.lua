-- The places of tickets: out at once while their window has room and nothing is ready, else ready. Calls that run together place the tickets
-- of all their tenants, and write them once.

local add_to_window, place_ticket, issue_tickets, give_ticket, write_placed
do
  function add_to_window(context, level, tenant, id)
    append(context.shard.placed.window, window_score(level.number, tenant), tenant .. '/' .. id)
    level.placed = (level.placed or 0) + 1
    for _, each in pairs(context.shard.levels) do
      if each.queue == level.queue and each.number >= level.number then each.room = each.room - 1 end
    end
  end

  -- Returns how many ready tickets of its tenant are before it. `is_kept`: a slot takes it now, so the others do not come after it.
  local function add_to_ready(context, level, text, is_kept)
    local shard, own = context.shard, own_at(context, level)
    local before = count_ready(context, level)
    if not own.joins then
      own.joins = true
      append(shard.placed.joiners, level, context)
    end
    append(shard.placed.ready, '0', text)
    own.ready, own.has_tickets = before + 1, true
    if is_kept then
      level.has_kept = true
      return before
    end
    level.has_ready, shard.has_ready = true, true
    for _, each in pairs(shard.levels) do
      each.has_better = each.has_better or each.queue == level.queue and each.number > level.number
    end
    -- The window has grown: tickets that were ready before this one go first.
    if level.room > 0 then shard.has_room = true end
    return before
  end

  -- Lets the ticket of a granted task out, or adds it to the ready ones. Returns its name in the outbox, `<task>.<number>` and perhaps
  -- `.ahead`; or nil, and how many ready tickets of its tenant are before it.
  -- `prefix`: of its level, when that is known.
  function place_ticket(context, id, number, text, prefix)
    local level = open_level(context, prefix or string.match(text, '^[^/]+/%d+/'))
    local own = own_at(context, level)
    -- Behind what its tenant made ready in this call.
    if own.joins and level.has_ready then
      append(context.shard.placed.ready, '0', text)
      own.ready = own.ready + 1
      return nil, own.ready - 1
    end
    local name = id .. '.' .. number
    local place = choose_place(context, level, text)
    if place == 'ready' or place == 'kept' then return nil, add_to_ready(context, level, text, place == 'kept') end
    add_to_window(context, level, context.tenant, id)
    own.has_tickets = true
    if place == 'out' then return name end
    if place == 'overtaking' then return name .. '.ahead' end
    local cost = tonumber(string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/(%d+)/'))
    local start = join_turns(context, level, { context })
    redis.call('ZADD', context.turns, turn_after(context, context.tenant, start, cost), level.prefix .. context.tenant)
    return name .. '.ahead'
  end

  -- Notes tickets that are out: for the reply, and for the outbox, where they stand under one entry until they are in BullMQ.
  function issue_tickets(context, entry, texts)
    local shard = context.shard
    append(shard.placed.outbox, context.stamp, entry)
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
