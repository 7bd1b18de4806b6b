-- The heads of the queues: of each range of priorities the ticket that a worker may start first. `pool`: see `order.lua`.

-- Tickets that are passed over at once because the worker does not have their agents, or these versions of them.
local MAX_FOREIGN = 500
-- Tickets that are read at once where one tenant alone waits at a level.
local READ_AHEAD = 16
local find_heads, forget_heads, read_ticket, has_agent
do
  function has_agent(pool, text)
    if pool.foreign == '' then return true end
    local agent, version = string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/%d+/[^/]+/([^/@]*)(@?[^/]*)/')
    if not agent then return true end
    if string.find(pool.foreign, ',' .. agent .. ',', 1, true) then return false end
    return version == '' or not string.find(pool.foreign, ',' .. agent .. version .. ',', 1, true)
  end

  -- The first ticket between two bounds that the worker can run: of the best level that has any, by its tenants' turns.
  local function first_runnable(context, pool, from, to)
    local first, level, last, turn
    for _, text in ipairs(redis.call('ZRANGEBYLEX', context.ready, from, to, 'LIMIT', '0', MAX_FOREIGN)) do
      if level and string.sub(text, 1, #level) ~= level then break end
      local tenant = tenant_of(text)
      if tenant ~= last and has_agent(pool, text) then
        level, last = level or string.match(text, '^[^/]+/%d+/'), tenant
        local own = tonumber(redis.call('ZSCORE', context.turns, level .. tenant) or 0)
        if not first or own < turn then first, turn = text, own end
      end
    end
    return first
  end

  local function level_of(pool, queue, text)
    local prefix = string.match(text, '^[^/]+/%d+/')
    local level = pool.levels[prefix]
    if not level then
      level = { prefix = prefix, number = level_number(prefix), queue = queue }
      pool.levels[prefix] = level
    end
    return level
  end

  -- A ticket as it is compared with others.
  function read_ticket(pool, queue, text)
    local level = level_of(pool, queue, text)
    local tenant, standing, id, number, cost, agent =
      string.match(text, '^([^/]+)/(%d+)/([^/.]+)%.(%d+)/(%d+)/[^/]+/([^/@]*)[^/]*/', #level.prefix + 1)
    return {
      name = text, level = level, queue = queue, priority = RANKS - level.number % RANKS, tenant = tenant, id = id, number = tonumber(number),
      cost = tonumber(cost), agent = agent, standing = tonumber(string.sub(standing, 1, TIME_DIGITS)),
      accepted = tonumber(string.sub(standing, -TIME_DIGITS)),
    }
  end

  -- The first tickets of a level: of the tenant whose turn it is one, of a single tenant some.
  local function first_of_level(context, pool, level, text)
    local tenant = next_turn(context, level)
    level.has_turns = tenant ~= nil
    local prefix = level.prefix .. (tenant or tenant_of(text)) .. '/'
    local texts = first_ready(context, prefix, tenant and 1 or READ_AHEAD)
    if texts[1] and has_agent(pool, texts[1]) then return texts end
    return { first_runnable(context, pool, '[' .. prefix, '(' .. prefix .. '\255') }
  end

  -- The first tickets of a queue whose priority is in a range.
  local function read_range(context, pool, queue, range)
    local from, to = '[' .. level_prefix(queue, range.high), '(' .. level_prefix(queue, range.low) .. '\255'
    local text = redis.call('ZRANGEBYLEX', context.ready, from, to, 'LIMIT', '0', '1')[1]
    if not text then return {} end
    local texts = first_of_level(context, pool, level_of(pool, queue, text), text)
    return texts[1] and texts or { first_runnable(context, pool, from, to) }
  end

  local function read_head(context, pool, queue, range)
    local text = range.texts and range.texts[range.at]
    if not text or not has_agent(pool, text) then
      range.texts, range.at = read_range(context, pool, queue, range), 1
      text = range.texts[1]
    end
    range.is_read, range.head = true, text and read_ticket(pool, queue, text)
    if range.head then range.head.range = range end
  end

  -- The ranges of priorities whose heads are compared.
  local function open_ranges(context, pool, queue)
    if not first_ready(context, queue .. '/')[1] then return {} end
    if queue == 'critical' then return { { high = RANKS, low = 1 } } end
    return { { high = RANKS, low = pool.highFrom }, { high = pool.highFrom - 1, low = pool.lowTo + 1 }, { high = pool.lowTo, low = 1 } }
  end

  function find_heads(context, pool, queue)
    if pool.closed[queue] then return {} end
    local known = pool.heads[queue] or { ranges = open_ranges(context, pool, queue) }
    pool.heads[queue] = known
    if known.list then return known.list end
    known.list = {}
    for _, range in ipairs(known.ranges) do
      if not range.is_read then read_head(context, pool, queue, range) end
      known.list[#known.list + 1] = range.head
    end
    return known.list
  end

  -- Notes that a head was taken, and tickets right behind it, `count` in all.
  function forget_heads(pool, head, count)
    local known = pool.heads[head.queue]
    if not known then return end
    known.list = nil
    if head.range then
      head.range.is_read, head.range.at = false, head.range.at + count
    else
      pool.heads[head.queue] = nil
    end
  end
end
