-- The order of the slots: which ticket a worker's next free slot gets. `pool` says what runs in its slots, and what may start in them:
--   free, ordinary: slots for any ticket, and of these for such that are not critical; people: of these, those that are kept for people
--   queues: of each that it serves, `weight` and `running`; bands: of each, `share` and `running`
--   maxLow, highFrom, lowTo (priorities), lowAgeMs; foreign: agents that others have and it lacks, between commas
-- A test compares the claim with a plain list in memory, step by step.

-- Tickets that are passed over at once because the worker does not have their agents.
local MAX_FOREIGN = 500
local choose_head, take_head
do
  local function has_agent(pool, text)
    if pool.foreign == '' then return true end
    local agent = string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/%d+/[^/]+/([^/]*)/')
    return not agent or not string.find(pool.foreign, ',' .. agent .. ',', 1, true)
  end

  local function first_from(context, from, to)
    return redis.call('ZRANGEBYLEX', context.ready, from, to, 'LIMIT', '0', '1')[1]
  end

  -- The first ticket between two bounds that the worker can run, in the order of their texts.
  local function first_runnable(context, pool, from, to)
    for _, text in ipairs(redis.call('ZRANGEBYLEX', context.ready, from, to, 'LIMIT', '0', MAX_FOREIGN)) do
      if has_agent(pool, text) then return text end
    end
  end

  local function level_of(queue, text)
    local prefix = string.match(text, '^[^/]+/%d+/')
    return { prefix = prefix, number = level_number(prefix), queue = queue }
  end

  -- A ticket as it is compared with others.
  local function read_head(queue, text)
    local level = level_of(queue, text)
    local standing, id = string.match(text, '^[^/]+/%d+/[^/]+/(%d+)/([^/.]+)')
    return {
      level = level, queue = queue, text = text, priority = RANKS - level.number % RANKS, id = id,
      standing = tonumber(string.sub(standing, 1, TIME_DIGITS)), accepted = tonumber(string.sub(standing, -TIME_DIGITS)),
    }
  end

  -- The first ticket of a level by its tenants' turns.
  local function by_turn(context, pool, level, text)
    local tenant = next_turn(context, level)
    local prefix = level.prefix .. (tenant or tenant_of(text)) .. '/'
    local first = tenant and first_ready(context, prefix)[1] or text
    return has_agent(pool, first) and first or first_runnable(context, pool, '[' .. prefix, '(' .. prefix .. '\255')
  end

  -- The first ticket of a queue whose priority is in a range, as a head, or nil.
  local function head_between(context, pool, queue, high, low)
    local from, to = '[' .. level_prefix(queue, high), '(' .. level_prefix(queue, low) .. '\255'
    local text = first_from(context, from, to)
    if not text then return nil end
    local chosen = by_turn(context, pool, level_of(queue, text), text) or first_runnable(context, pool, from, to)
    return chosen and read_head(queue, chosen)
  end

  -- The ranges of priorities whose heads are compared.
  local function ranges_of(pool) return { { RANKS, pool.highFrom }, { pool.highFrom - 1, pool.lowTo + 1 }, { pool.lowTo, 1 } } end

  local function find_heads(context, pool, queue)
    local known = pool.heads[queue]
    if known then return known end
    known = {}
    if not pool.closed[queue] then
      if queue == 'critical' then
        known[1] = head_between(context, pool, queue, RANKS, 1)
      elseif first_from(context, '[' .. queue .. '/', '(' .. queue .. '/\255') then
        for _, range in ipairs(ranges_of(pool)) do known[#known + 1] = head_between(context, pool, queue, range[1], range[2]) end
      end
    end
    pool.heads[queue] = known
    return known
  end

  local function is_older(one, other)
    if one.standing ~= other.standing then return one.standing < other.standing end
    return one.id < other.id
  end

  local function band_of(context, pool, head)
    if head.priority >= pool.highFrom then return 'high' end
    return (head.priority > pool.lowTo or context.now - head.accepted >= pool.lowAgeMs) and 'normal' or 'low'
  end

  local BANDS = { high = 1, normal = 2, low = 3 }

  local function goes_before(one, other)
    if one.share ~= other.share then return one.share < other.share end
    if one.band ~= other.band then return BANDS[one.band] < BANDS[other.band] end
    if one.use ~= other.use then return one.use < other.use end
    if one.priority ~= other.priority then return one.priority > other.priority end
    return is_older(one, other)
  end

  -- The best ticket of those that share the slots: of the band that is furthest below its share, then of the queue that is furthest below what
  -- it is sure of, then by priority, turn and age.
  local function choose_shared(context, pool)
    local heads, has_others = {}, false
    for queue, own in pairs(pool.queues) do
      for _, head in ipairs(queue == 'critical' and {} or find_heads(context, pool, queue)) do
        head.band = band_of(context, pool, head)
        head.share = (pool.bands[head.band].running + 1) / pool.bands[head.band].share
        head.use = own.running / own.weight
        has_others = has_others or head.band ~= 'low'
        heads[#heads + 1] = head
      end
    end
    local best, count = nil, 0
    for _, head in ipairs(heads) do
      if head.band ~= 'low' or not has_others or pool.bands.low.running < pool.maxLow then
        count = count + 1
        if not best or goes_before(head, best) then best = head end
      end
    end
    if best then best.is_only = count == 1 and #heads == 1 end
    return best
  end

  -- The best ticket that a key waits for and that may start, one for each key; nil for none.
  local function choose_awaited(context, pool)
    local best
    for _, text in ipairs(redis.call('ZRANGE', awaited_key(context.jobs), 0, MAX_FOREIGN - 1)) do
      local queue, key = string.match(text, '^[^/]+'), awaiting_key(text)
      if not redis.call('ZSCORE', context.ready, text) then
        redis.call('ZREM', awaited_key(context.jobs), text)
      elseif pool.queues[queue] and queue ~= 'critical' and not pool.closed[queue] and not pool.keys[key] and has_agent(pool, text) then
        local head = read_head(queue, text)
        head.key = key
        if not best or head.priority > best.priority or head.priority == best.priority and is_older(head, best) then best = head end
      end
    end
    return best
  end

  -- The best ticket of a person who waits: of a chat, else one that a key waits for.
  local function choose_for_people(context, pool)
    local best
    for _, head in ipairs(pool.queues.chat and find_heads(context, pool, 'chat') or {}) do
      if not best or head.priority > best.priority or head.priority == best.priority and is_older(head, best) then best = head end
    end
    if best or pool.awaited <= 0 then return best end
    return choose_awaited(context, pool)
  end

  -- The ticket that gets the next slot, or nil: critical ones first, then people in the slots kept for them, then the best of all others.
  function choose_head(context, pool)
    local critical = pool.free > 0 and pool.queues.critical and find_heads(context, pool, 'critical')[1]
    if critical then return critical end
    if pool.ordinary <= 0 then return nil end
    if pool.people > 0 then
      local head = choose_for_people(context, pool)
      if head then
        head.band, head.is_for_people = head.band or band_of(context, pool, head), true
        return head
      end
    end
    return pool.ordinary > pool.people and choose_shared(context, pool) or nil
  end

  -- The limiter of a queue counts a start: at most `max` in a span that begins with the first.
  local function count_start(context, pool, queue, count)
    local limit = pool.limits[queue]
    if not limit then return end
    if limit.ends <= context.now then limit.ends, limit.count = context.now + limit.duration, 0 end
    limit.count = limit.count + count
    redis.call('HSET', starts_key(context.jobs), queue, string.format('%d', limit.ends) .. '/' .. limit.count)
    if limit.count >= limit.max then pool.closed[queue] = limit.ends end
  end

  local function room_for(pool, head)
    if head.queue == 'critical' then return pool.free end
    if head.is_for_people then return 1 end
    local limit = pool.limits[head.queue]
    return math.min(pool.ordinary - pool.people, limit and limit.max or pool.ordinary)
  end

  -- Tickets of the head's tenant behind it that may go with it: no other ticket is compared with them.
  local function texts_with(context, pool, head, max)
    if max == 1 or not (head.is_only or head.queue == 'critical') then return { head.text } end
    if next_turn(context, head.level) or pool.limits[head.queue] then return { head.text } end
    local tenant, texts = tenant_of(head.text), {}
    for _, text in ipairs(first_ready(context, head.level.prefix .. tenant .. '/', max)) do
      if not has_agent(pool, text) then break end
      texts[#texts + 1] = text
    end
    return #texts > 0 and texts or { head.text }
  end

  -- Takes the head, and tickets that may go with it, for at most `count` slots. Returns their texts.
  function take_head(context, pool, head, count)
    local texts, cost = texts_with(context, pool, head, math.min(count, room_for(pool, head))), 0
    for _, text in ipairs(texts) do cost = cost + string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/(%d+)/') end
    call_many('ZREM', context.ready, texts)
    note_turn(context, head.level, tenant_of(head.text), cost)
    count_start(context, pool, head.queue, #texts)
    pool.heads[head.queue] = nil
    pool.free = pool.free - #texts
    pool.ordinary = math.min(pool.free, pool.ordinary - (head.queue == 'critical' and 0 or #texts))
    if head.is_for_people then
      pool.people = pool.people - 1
      if head.key then pool.awaited, pool.keys[head.key] = pool.awaited - 1, true end
    end
    pool.people = math.max(0, math.min(pool.people, pool.ordinary))
    pool.queues[head.queue].running = pool.queues[head.queue].running + #texts
    if head.band then pool.bands[head.band].running = pool.bands[head.band].running + #texts end
    return texts
  end
end
