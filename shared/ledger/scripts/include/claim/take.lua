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
  local function tickets_with(context, pool, head, max)
    local level = head.level
    if max == 1 or not (head.is_only or head.queue == 'critical') then return { head } end
    if level.has_turns ~= false or pool.limits[head.queue] then return { head } end
    local tickets = { head }
    for position, text in ipairs(first_ready(context, level.prefix .. head.tenant .. '/', max)) do
      if not has_agent(pool, text) then break end
      if position > 1 then tickets[position] = read_ticket(pool, head.queue, text) end
    end
    return tickets
  end

  -- Takes the head, and tickets that may go with it, for at most `count` slots. Returns them.
  function take_head(context, pool, head, count)
    local tickets, texts, cost = tickets_with(context, pool, head, math.min(count, room_for(pool, head))), {}, 0
    for position, ticket in ipairs(tickets) do texts[position], cost = ticket.name, cost + ticket.cost end
    call_many('ZREM', context.ready, texts)
    if head.level.has_turns ~= false then note_turn(context, head.level, head.tenant, cost) end
    forget_heads(pool, head, #tickets)
    count_start(context, pool, head.queue, #texts)
    pool.free = pool.free - #texts
    pool.ordinary = math.min(pool.free, pool.ordinary - (head.queue == 'critical' and 0 or #texts))
    if head.is_for_people then
      pool.people = pool.people - 1
      if head.key then pool.awaited, pool.keys[head.key] = pool.awaited - 1, true end
    end
    pool.people = math.max(0, math.min(pool.people, pool.ordinary))
    pool.queues[head.queue].running = pool.queues[head.queue].running + #texts
    if head.band then pool.bands[head.band].running = pool.bands[head.band].running + #texts end
    return tickets
  end
end
