-- Lets ready tickets out by turns, into windows or to slots.

-- Tickets that one call lets out of the ready ones at most; the next call goes on.
local MAX_DISPATCHED = 200
local take_turns
do
  -- Tickets of one tenant that share an entry of the outbox at most, and tenants whose turns are read together.
  local MAX_ENTRY = 32

  -- The tenants whose turns come first, in order: tenant and the time of its next ticket. `ends`: the time up to which no other comes in
  -- between.
  local function read_line(context, level, count)
    local found = redis.call(
      'ZRANGEBYSCORE', context.turns, level.number * TIMES, (level.number + 1) * TIMES - 1, 'WITHSCORES', 'LIMIT', 0, count + 1)
    local line = { ends = (level.number + 1) * TIMES }
    for position = 1, math.min(#found, count * 2), 2 do
      append(line, { tenant = string.sub(found[position], #level.prefix + 1), start = tonumber(found[position + 1]) })
    end
    if #found > count * 2 then line.ends = tonumber(found[#found]) end
    if #line > 0 then return line end
    -- Turns that were lost start again.
    local first = first_ready(context, level.prefix)[1]
    if first then append(line, { tenant = string.match(first, '^[^/]+/%d+/([^/]+)/'), start = level.number * TIMES }) end
    return line
  end

  local function is_later(one, other)
    return one.start > other.start or one.start == other.start and one.tenant > other.tenant
  end

  -- Puts a tenant back in line. Others may come before it once its time is that of the line's end.
  local function return_to_line(line, flow)
    if flow.start >= line.ends then return end
    local position = #line + 1
    while position > 1 and is_later(line[position - 1], flow) do position = position - 1 end
    table.insert(line, position, flow)
  end

  -- The next ready tickets of a tenant: one while it has rivals.
  local function next_texts(context, level, flow, count)
    local prefix = level.prefix .. flow.tenant .. '/'
    local from = flow.last and '(' .. flow.last or '[' .. prefix
    return redis.call('ZRANGEBYLEX', context.ready, from, '(' .. prefix .. '\255', 'LIMIT', '0', count)
  end

  -- What these tickets cost, and their names in the outbox.
  local function read_texts(level, tenant, texts)
    local ids, names, cost = {}, {}, 0
    for position, text in ipairs(texts) do
      local id, number, each = string.match(text, '^%d+/([^/.]+)%.(%d+)/(%d+)/', #level.prefix + #tenant + #'/' + 1)
      ids[position], names[position], cost = id, id .. '.' .. number, cost + each
    end
    return cost, ids, names
  end

  -- Lets tickets of a tenant out, or hands them to `level.take`. Returns their cost.
  local function issue_flow(context, level, tenant, texts)
    local cost, ids, names = read_texts(level, tenant, texts)
    if level.take then
      for _, text in ipairs(texts) do level.take(tenant, text) end
      return cost
    end
    for _, id in ipairs(ids) do add_to_window(context, level, tenant, id) end
    issue_tickets(context, tenant .. '/' .. table.concat(names, ','), texts)
    return cost
  end

  -- Lets ready tickets of one level out by turns, at most `room`; with `level.take` each goes there. Returns how many.
  take_turns = function(context, level, room)
    local left = room
    while left > 0 do
      local line = read_line(context, level, math.min(left, MAX_ENTRY))
      if #line == 0 then break end
      local taken, turns, idle = {}, {}, {}
      while #line > 0 and left > 0 do
        local flow = table.remove(line, 1)
        local is_single = #line == 0 and line.ends == (level.number + 1) * TIMES
        local texts = next_texts(context, level, flow, is_single and math.min(left, MAX_ENTRY) or '1')
        if #texts == 0 then
          -- It is forgotten once the time of the others has passed its own.
          turns[flow.tenant] = nil
          idle[#idle + 1] = level.prefix .. flow.tenant
        else
          flow.start = turn_after(context, flow.tenant, flow.start, issue_flow(context, level, flow.tenant, texts))
          turns[flow.tenant], flow.last, left = flow.start, texts[#texts], left - #texts
          for _, text in ipairs(texts) do taken[#taken + 1] = text end
          return_to_line(line, flow)
        end
      end
      local starts = {}
      for tenant, start in pairs(turns) do append(starts, start, level.prefix .. tenant) end
      call_many('ZREM', context.ready, taken)
      call_many('ZADD', context.turns, starts)
      call_many('ZREM', context.turns, idle)
    end
    return room - left
  end
end

-- Whether a ticket of a worse level is out: free slots would find it in BullMQ before they ask for what is ready.
local function is_overtaken(context, number, queue)
  local last = first_level(queue) + RANKS
  return redis.call('ZCOUNT', context.window, (number + 1) * FLOWS, last * FLOWS - 1) > 0
end

-- Fills the windows from the ready tickets: queue by queue, the best level first. Where slots take ready tickets by themselves, only those
-- windows that would keep them from it.
local function dispatch(context)
  context.shard.levels = {}
  if redis.call('EXISTS', context.ready, context.turns) == 0 then return end
  local from, left = '-', MAX_DISPATCHED
  while left > 0 do
    local first = redis.call('ZRANGEBYLEX', context.ready, from, '+', 'LIMIT', '0', '1')[1]
    if not first then break end
    local prefix = string.match(first, '^[^/]+/%d+/')
    local number, queue = level_number(prefix)
    local room = math.min(room_of(context, number, queue), left, context.max or left)
    if context.only and queue ~= context.only then room = 0 end
    if context.direct and not is_overtaken(context, number, queue) then room = 0 end
    local taken = take_turns(context, { prefix = prefix, number = number, queue = queue }, room)
    left = left - taken
    write_placed(context)
    from = '(' .. (taken < room and prefix or queue .. '/') .. '\255'
  end
  end_turns(context)
end

-- The end of a call: writes what it placed, and fills the room that it made. Returns the tickets that are out, for BullMQ: entry in the
-- outbox, empty for that of the ticket before, and text of each. Calls that run together leave all of this to `end_calls`.
local function close_dispatch(context)
  if joined then
    keep_writes(context)
    return {}
  end
  write_placed(context)
  if context.shard.has_room then dispatch(context) end
  return context.shard.tickets
end

-- The end of calls that ran together. Returns their tickets.
local function end_calls()
  write_joined()
  local context = joined.context
  if not context then return {} end
  write_placed(context)
  if context.shard.has_room then dispatch(context) end
  return context.shard.tickets
end
