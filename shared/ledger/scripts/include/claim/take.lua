-- Tickets leave the ready ones for a worker's slots.

local take_head
do
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
