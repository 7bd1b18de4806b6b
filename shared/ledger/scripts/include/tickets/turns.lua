-- Tenants of one level take turns by start-time fair queueing: each gets as much time of slots as its weight says.
--   turns: `<queue>/<rank>/<tenant>` -> level and the virtual time at which its next ticket starts: ms of a slot, divided by its weight
local TIMES = 1e14

-- The tenant whose turn it is, when its ticket starts, and whether others may be in line. For a level with ready tickets: a tenant
-- without any is forgotten here once the time of the others has passed its own.
local function next_turn(context, level)
  while true do
    local found = redis.call(
      'ZRANGEBYSCORE', context.turns, level.number * TIMES, (level.number + 1) * TIMES - 1, 'WITHSCORES', 'LIMIT', '0', '2')
    if not found[1] then return nil end
    if first_ready(context, found[1] .. '/')[1] then return string.sub(found[1], #level.prefix + 1), tonumber(found[2]), found[3] ~= nil end
    redis.call('ZREM', context.turns, found[1])
  end
end

local function own_turn(context, level) return tonumber(redis.call('ZSCORE', context.turns, level.prefix .. context.tenant) or 0) end

-- The virtual time of a level: that of whose turn it is.
local function time_of(context, level)
  local _, start = nil, nil
  if level.has_ready or level.has_kept then _, start = next_turn(context, level) end
  return start or level.number * TIMES
end

-- Puts tenants in line: not before whose turn it is, nor before the end of what each has had. `joiners`: their contexts. Returns the time
-- of the first.
local function join_turns(context, level, joiners)
  local members, weighted, unweighted = {}, {}, {}
  for position, each in ipairs(joiners) do
    members[position] = level.prefix .. each.tenant
    if each.weight then append(weighted, each.tenant, each.weight) else unweighted[#unweighted + 1] = each.tenant end
  end
  local known, time = redis.call('ZMSCORE', context.turns, unpack(members)), time_of(context, level)
  local first, starts = nil, {}
  for position, member in ipairs(members) do
    local own = tonumber(known[position])
    local start = math.max(time, own or 0)
    first = first or start
    -- The time of the very first level begins at 0.
    if not own or start > own then append(starts, start, member) end
  end
  call_many('ZADD', context.turns, starts)
  call_many('HSET', context.weights, weighted)
  if #weighted > 0 then context.shard.has_weights = true end
  call_many('HDEL', context.weights, unweighted)
  return first
end

-- When a tenant's next ticket starts, after tickets of this cost.
local function turn_after(context, tenant, start, cost)
  local shard = context.shard
  if shard.has_weights == nil then shard.has_weights = redis.call('EXISTS', context.weights) == 1 end
  local weight = shard.has_weights and redis.call('HGET', context.weights, tenant) or 1
  return start + math.ceil(cost / tonumber(weight))
end

-- Forgets the tenants' shares in queues where nothing is ready and the window has room: no tenant waits for a turn there.
local function end_turns(context)
  local from = 0
  while true do
    local member = redis.call('ZRANGEBYSCORE', context.turns, from, '+inf', 'LIMIT', '0', '1')[1]
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
