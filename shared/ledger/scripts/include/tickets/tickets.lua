-- Tasks come to stand at `slot`, and leave it. Where a slot may be idle for one, its ticket gets a job in BullMQ, which wakes that slot. Calls
-- that run together place the tickets of all their tenants, and write them once.

local open_dispatch, place_ticket, issue_tickets, give_ticket, withdraw_ticket, write_placed
do
  local function no_placed() return { ready = {}, jobs = {}, awaited = {}, outbox = {}, joiners = {} } end

  -- What is known of the shard's tickets, in `shard`, and of the tenant's own by level, in `own`. With `is_idle` it has none before this call.
  function open_dispatch(context, ready, jobs, turns, weights)
    context.ready, context.jobs, context.turns, context.weights = ready, jobs, turns, weights
    context.shard = joined and joined.shard or { levels = {}, rooms = {}, tickets = {}, placed = no_placed() }
    context.own = {}
    if joined then joined.shard, joined.context = context.shard, context end
  end

  local function open_level(context, prefix)
    local level = context.shard.levels[prefix]
    if not level then
      local number, queue = level_number(prefix)
      level = { prefix = prefix, number = number, queue = queue }
      context.shard.levels[prefix] = level
    end
    return level
  end

  -- Whether a slot that claims right behind this call is left for a ticket of this queue.
  local function has_claimer(context, queue)
    local slots, kept = context.slots, context.shard.kept or { all = 0 }
    if not slots or kept.all >= slots.all or (kept[queue] or 0) >= (slots[queue] or 0) then return false end
    kept.all, kept[queue] = kept.all + 1, (kept[queue] or 0) + 1
    context.shard.kept = kept
    return true
  end

  -- Whether BullMQ has room for a job of this queue: it has one for each slot that is idle, and some for slots that come.
  local function has_room_for_job(context, queue)
    local rooms = context.shard.rooms
    if not rooms[queue] then
      local idle, number = redis.call('HGET', idle_key(context.jobs), queue) or 0, QUEUE_NUMBERS[queue] or 0
      rooms[queue] = context.lookAhead + idle - redis.call('ZCOUNT', context.jobs, number, number)
    end
    rooms[queue] = rooms[queue] - 1
    return rooms[queue] >= 0
  end

  -- Tickets that the tenant has ready at a level, with those of this call.
  local function own_at(context, level)
    local own = context.own[level.prefix]
    if not own then
      local prefix = level.prefix .. context.tenant .. '/'
      own = { ready = context.is_idle and 0 or redis.call('ZLEXCOUNT', context.ready, '[' .. prefix, '(' .. prefix .. '\255') }
      context.own[level.prefix] = own
      append(context.shard.placed.joiners, level, context)
    end
    return own
  end

  -- Places the ticket of a granted task. Returns its name in the outbox, `<task>.<number>`, where it gets a job, else nil; and how many ready
  -- tickets of its tenant are at its level. `prefix`: of the level, when that is known.
  function place_ticket(context, id, number, text, prefix)
    local placed, level = context.shard.placed, open_level(context, prefix or string.match(text, '^[^/]+/%d+/'))
    local own = own_at(context, level)
    append(placed.ready, '0', text)
    if string.find(text, '@', 1, true) and awaiting_key(text) then append(placed.awaited, '0', text) end
    own.ready = own.ready + 1
    if has_claimer(context, level.queue) or not has_room_for_job(context, level.queue) then return nil, own.ready - 1 end
    append(placed.jobs, QUEUE_NUMBERS[level.queue] or 0, shard_member(context, id))
    return id .. '.' .. number, own.ready - 1
  end

  -- Notes tickets that get jobs: for the reply, and for the outbox, where they stand under one entry until they are in BullMQ.
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
    if #placed.joiners == 0 then return end
    shard.placed, shard.levels = no_placed(), {}
    for position = 1, #placed.joiners, 2 do
      local level, joiner = placed.joiners[position], placed.joiners[position + 1]
      joiner.own = {}
      lines[level] = lines[level] or { line = read_line(context, level) }
      table.insert(lines[level], joiner)
    end
    call_many('ZADD', context.ready, placed.ready)
    call_many('ZADD', context.jobs, placed.jobs)
    call_many('ZADD', awaited_key(context.jobs), placed.awaited)
    call_many('ZADD', context.outbox, placed.outbox)
    for level, joiners in pairs(lines) do join_turns(context, level, joiners, joiners.line) end
  end

  -- Takes the ticket of a task that is not to run now back. A job of it is dropped once a worker draws it.
  function withdraw_ticket(context, id, task)
    write_placed(context)
    local found = find_ready(context, id, task)
    if found then redis.call('ZREM', context.ready, found) end
    redis.call('ZREM', context.jobs, shard_member(context, id))
    -- A slot may have taken it to look at it.
    redis.call('ZREM', context.outbox, shard_member(context, id) .. '.' .. task.ticket)
  end
end

-- The end of a call: writes what it placed. Returns the tickets that are to get jobs in BullMQ: entry in the outbox, empty for that of the
-- ticket before, and text of each. Calls that run together leave all of this to `end_calls`.
local function close_dispatch(context)
  if joined then
    keep_writes(context)
    return {}
  end
  write_placed(context)
  return context.shard.tickets
end

-- The end of calls that ran together. Returns their tickets.
local function end_calls()
  write_joined()
  local context = joined.context
  if not context then return {} end
  write_placed(context)
  return context.shard.tickets
end
