-- What a call finds of the tickets at a level: room, ready tickets, and what its tenant has there. It is read once, and follows what the call
-- places.

local no_placed, open_dispatch, open_level, own_at, count_ready, choose_place
do
  function no_placed() return { ready = {}, window = {}, outbox = {}, joiners = {} } end

  -- What is known of the shard's tickets, in `shard`, and of the tenant's own by level, in `own`. With `is_idle` it has none before this call.
  function open_dispatch(context, ready, window, turns, weights)
    context.ready, context.window, context.turns, context.weights = ready, window, turns, weights
    context.shard = joined and joined.shard or { levels = {}, tickets = {}, placed = no_placed() }
    context.own = {}
    if joined then joined.shard, joined.context = context.shard, context end
  end

  -- What the first ticket of this call, or of calls that run with it, finds at its level, for all that follow.
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
  function own_at(context, level)
    local own = context.own[level.prefix] or {}
    context.own[level.prefix] = own
    return own
  end

  -- How many ready tickets the tenant has at this level, with those of this call.
  function count_ready(context, level)
    local own = own_at(context, level)
    if not own.ready then
      local prefix = level.prefix .. context.tenant .. '/'
      own.ready = level.had_ready and not context.is_idle and redis.call('ZLEXCOUNT', context.ready, '[' .. prefix, '(' .. prefix .. '\255') or 0
    end
    return own.ready
  end

  -- Whether the tenant has tickets at this level or a better one of its queue that no worker has claimed. Levels without a ticket of any
  -- tenant are skipped.
  local function has_own(context, level)
    if count_ready(context, level) > 0 then return true end
    if context.is_idle then return false end
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

  -- Whether a slot that takes a ready ticket right behind this call is left for one of this queue.
  local function has_slot(context, queue)
    local slots, kept = context.slots, context.shard.kept or { all = 0 }
    if not slots or kept.all >= slots.all or (kept[queue] or 0) >= (slots[queue] or 0) then return false end
    kept.all, kept[queue] = kept.all + 1, (kept[queue] or 0) + 1
    context.shard.kept = kept
    return true
  end

  -- Where a ticket goes: `out` in its turn, `overtaking` its tenant's own tickets, out `ahead` of the ready ones, `ready`, or `kept`: it is
  -- ready for a slot that takes it right behind this call, so that BullMQ need not have it.
  function choose_place(context, level, text)
    if level.room > 0 and not level.has_ready and not level.has_better then
      if has_slot(context, level.queue) then return 'kept' end
      return may_overtake_own(context, level, text) and 'overtaking' or 'out'
    end
    return may_go_ahead(context, level) and 'ahead' or 'ready'
  end
end
