-- The heads of the queues: of each range of priorities the ticket that a worker may start first. `pool`: see `order.lua`.

-- Tickets that are passed over at once because the worker does not have their agents.
local MAX_FOREIGN = 500
local find_heads, read_head, has_agent
do
  function has_agent(pool, text)
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
  function read_head(queue, text)
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

  function find_heads(context, pool, queue)
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
end
