-- What a claim finds before it chooses: room under the fleet's cap, queues that start nothing now, and jobs that were drawn from BullMQ.

-- The leases of critical tasks.
local function critical_key(leases) return leases .. ':critical' end

local open_pool, has_room_for_given, note_idle, settle_drawn
do
  -- Critical attempts that run; those that have ended are forgotten here.
  local function count_critical(context)
    local members = redis.call('SMEMBERS', critical_key(context.leases))
    if #members == 0 then return 0 end
    local running, ended = 0, {}
    for position, score in ipairs(redis.call('ZMSCORE', context.leases, unpack(members))) do
      if score then running = running + 1 else ended[#ended + 1] = members[position] end
    end
    if #ended > 0 then redis.call('SREM', critical_key(context.leases), unpack(ended)) end
    return running
  end

  -- Attempts of the shard at once, and how many of these only critical ones may be: `cap`, or the share that was written last.
  local function read_cap(context)
    local cap = context.cap
    local max, reserved = string.match(cap.key and redis.call('GET', cap.key) or '', '^(%d+)/(%d+)$')
    if not max then return cap end
    return { max = math.min(tonumber(max), cap.fleetMax), reserved = tonumber(reserved) }
  end

  -- Slots of the call that the fleet's cap leaves it.
  local function apply_cap(context, pool)
    local cap, running = read_cap(context), redis.call('ZCARD', context.leases)
    pool.free = math.max(0, math.min(pool.free, cap.max - running))
    local room = cap.max - cap.reserved - running
    if cap.reserved > 0 then room = room + math.min(count_critical(context), running) end
    room = math.min(room, pool.free)
    -- Slots are kept for people of the worker's own, and not of a cap that leaves it fewer.
    if room < pool.ordinary then pool.people = math.max(0, math.min(pool.people, room - 1)) end
    pool.ordinary = math.max(0, math.min(pool.ordinary, room))
    pool.people = math.min(pool.people, pool.ordinary)
  end

  -- Whether the fleet's cap has room for so many given tasks.
  function has_room_for_given(context, count)
    return redis.call('ZCARD', context.leases) + count <= read_cap(context).max
  end

  -- Until when a queue whose starts are limited starts nothing, or nil.
  local function read_limit(context, pool, queue, limit)
    local ends, count = string.match(redis.call('HGET', starts_key(context.jobs), queue) or '0/0', '^(%d+)/(%d+)$')
    limit.ends, limit.count = tonumber(ends), tonumber(count)
    if limit.count >= limit.max and limit.ends > context.now then pool.closed[queue] = limit.ends end
  end

  -- Fills in what runs and, where there is something that may start, what is closed. `pauses`: by queue, BullMQ's own hash, in which a pause stands.
  function open_pool(context, pool, pauses, has_ready)
    pool.heads, pool.levels, pool.closed = {}, {}, {}
    apply_cap(context, pool)
    if not has_ready then return end
    for queue in pairs(pool.queues) do
      local paused = redis.call('HMGET', pauses[queue], 'paused', 'concurrency')
      if paused[1] or paused[2] then pool.closed[queue] = math.huge end
      if pool.limits[queue] then read_limit(context, pool, queue, pool.limits[queue]) end
    end
  end

  local function slots_for(pool, queue)
    return queue == 'critical' and pool.free or queue == 'chat' and pool.ordinary or pool.ordinary - pool.people
  end

  -- Slots that are left for the queue of this number.
  local function room_of(pool, number)
    for queue in pairs(pool.queues) do
      if QUEUE_NUMBERS[queue] == number then return slots_for(pool, queue) end
    end
    return 0
  end

  -- Slots of a worker that a queue may wake, as `<queue>=<slots>,...`. `left`: those that its next call fills.
  local function describe_idle(pool, left)
    local parts = {}
    for queue in pairs(pool.queues) do
      local slots = slots_for(pool, queue) - left
      if slots > 0 then parts[#parts + 1] = queue .. '=' .. slots end
    end
    table.sort(parts)
    return table.concat(parts, ',')
  end

  -- Adds the slots of a description to the sums of their queues, or takes them off.
  local function add_idle(key, description, sign)
    for queue, slots in string.gmatch(description, '([^,=]+)=(%d+)') do
      if redis.call('HINCRBY', key, queue, sign * slots) <= 0 then redis.call('HDEL', key, queue) end
    end
  end

  -- Notes which slots of the worker are idle behind this call but for `left`, until `ends` (ms): so many jobs wake them.
  function note_idle(context, pool, left, ends)
    local key, field = idle_key(context.jobs), '@' .. context.worker
    local former, now = redis.call('HGET', key, field), pool and describe_idle(pool, left) or ''
    local known = former and string.match(former, ' (.*)$') or ''
    if known ~= now then
      add_idle(key, known, -1)
      add_idle(key, now, 1)
    end
    if now ~= '' then
      redis.call('HSET', key, field, string.format('%d', ends) .. ' ' .. now)
    elseif former then
      redis.call('HDEL', key, field)
    end
  end

  -- What becomes of the jobs that the call's slots drew from BullMQ, a word each: `taken` with their own tickets; `stale`: their tasks do not
  -- wait any more; `returned` once to BullMQ, for a slot that can start them; `removed` where nothing can.
  function settle_drawn(context, pool, drawn, started)
    local words = {}
    for position, each in ipairs(drawn) do
      local member, is_second = string.match(each, '^(%S+) (%d)$')
      if started[member] then
        words[position] = 'taken'
      elseif not redis.call('ZSCORE', context.jobs, member) then
        words[position] = 'stale'
      elseif is_second == '1' or room_of(pool, tonumber(redis.call('ZSCORE', context.jobs, member))) > 0 then
        redis.call('ZREM', context.jobs, member)
        words[position] = 'removed'
      else
        words[position] = 'returned'
      end
    end
    return words
  end
end
