-- Tenants of one level take turns by start-time fair queueing: each gets as much time of slots as its weight says.
--   turns: `<queue>/<rank>/<tenant>` -> level and the virtual time at which its next ticket starts: ms of a slot, divided by its weight
local TIMES = 1e14

-- The tenant whose turn it is, when its ticket starts, and whether others may be in line. For a level with ready tickets: a tenant
-- without any is forgotten here once the time of the others has passed its own.
local function next_turn(context, level)
  while true do
    local found = redis.call(
      'ZRANGEBYSCORE', context.turns, level.number * TIMES, (level.number + 1) * TIMES - 1, 'WITHSCORES', 'LIMIT', 0, 2)
    if not found[1] then return nil end
    if first_ready(context, found[1] .. '/')[1] then return string.sub(found[1], #level.prefix + 1), tonumber(found[2]), found[3] ~= nil end
    redis.call('ZREM', context.turns, found[1])
  end
end

local function own_turn(context, level) return tonumber(redis.call('ZSCORE', context.turns, level.prefix .. context.tenant) or 0) end

-- The virtual time of a level: that of whose turn it is.
local function time_of(context, level)
  local _, start = nil, nil
  if level.has_ready then _, start = next_turn(context, level) end
  return start or level.number * TIMES
end

-- Puts a tenant in line: not before whose turn it is, nor before the end of what it has had. Returns its time.
local function join_turns(context, level)
  local known = redis.call('ZSCORE', context.turns, level.prefix .. context.tenant)
  local start = math.max(time_of(context, level), tonumber(known or 0))
  -- The time of the very first level begins at 0.
  if not known or start > tonumber(known) then redis.call('ZADD', context.turns, start, level.prefix .. context.tenant) end
  if context.weight then
    redis.call('HSET', context.weights, context.tenant, context.weight)
  else
    redis.call('HDEL', context.weights, context.tenant)
  end
  return start
end

-- Counts the cost of tickets for their tenant.
local function charge(context, level, tenant, start, cost)
  local weight = tenant == context.tenant and (context.weight or 1) or tonumber(redis.call('HGET', context.weights, tenant) or 1)
  redis.call('ZADD', context.turns, start + math.ceil(cost / weight), level.prefix .. tenant)
end

-- Forgets the tenants' shares in queues where nothing is ready and the window has room: no tenant waits for a turn there.
local function end_turns(context)
  local from = 0
  while true do
    local member = redis.call('ZRANGEBYSCORE', context.turns, from, '+inf', 'LIMIT', 0, 1)[1]
    if not member then break end
    local queue = string.match(member, '^[^/]+')
    local last = first_level(queue) + RANKS - 1
    if room_of(context, last, queue) > 0 and not first_ready(context, queue .. '/')[1] then
      redis.call('ZREMRANGEBYSCORE', context.turns, from, (last + 1) * TIMES - 1)
    end
    from = (last + 1) * TIMES
  end
  if redis.call('EXISTS', context.turns) == 0 then redis.call('DEL', context.weights) end
end
