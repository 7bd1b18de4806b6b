-- Tenants of one level take turns by start-time fair queueing: each gets as much time of slots as its weight says. The single tenant
-- of a level needs no turn.
--   turns: `<queue>/<rank>/<tenant>` -> level and the virtual time at which its next ticket starts: ms of a slot, divided by its weight
local TIMES = 1e14

local function tenant_of(text) return string.match(text, '^[^/]+/%d+/([^/]+)/') end

-- The tenant whose turn it is, and when its ticket starts; nil where there is a single one. A tenant without ready tickets is forgotten here once the
-- time of the others has passed its own.
local function next_turn(context, level)
  while true do
    local found = redis.call(
      'ZRANGEBYSCORE', context.turns, level.number * TIMES, (level.number + 1) * TIMES - 1, 'WITHSCORES', 'LIMIT', '0', '1')
    if not found[1] then return nil end
    if first_ready(context, found[1] .. '/')[1] then return string.sub(found[1], #level.prefix + 1), tonumber(found[2]) end
    redis.call('ZREM', context.turns, found[1])
  end
end

-- Who waits at a level before more tickets come: `time`, that of whose turn it is, or the `single` tenant; neither where nobody does.
local function read_line(context, level)
  if redis.call('EXISTS', context.turns) == 1 then
    local _, time = next_turn(context, level)
    if time then return { time = time } end
  end
  local first = first_ready(context, level.prefix)[1]
  return { single = first and tenant_of(first) }
end

local function note_weights(context, joiners)
  for _, each in ipairs(joiners) do
    if each.weight then
      redis.call('HSET', context.weights, each.tenant, each.weight)
      context.shard.has_weights = true
    elseif redis.call('EXISTS', context.weights) == 1 then
      redis.call('HDEL', context.weights, each.tenant)
    end
  end
end

-- Puts tenants in line: not before whose turn it is, nor before the end of what each has had. `joiners`: their contexts; `line`: see
-- `read_line`.
local function join_turns(context, level, joiners, line)
  note_weights(context, joiners)
  local names, starts, is_single = { line.single }, {}, not line.time
  for _, each in ipairs(joiners) do names[#names + 1] = each.tenant end
  for _, name in ipairs(names) do is_single = is_single and name == names[1] end
  if is_single then return end
  for _, name in ipairs(names) do
    local own = tonumber(redis.call('ZSCORE', context.turns, level.prefix .. name) or -1)
    local start = math.max(line.time or level.number * TIMES, own)
    if start > own then append(starts, start, level.prefix .. name) end
  end
  call_many('ZADD', context.turns, starts)
end

-- What tickets of this cost add to a tenant's time.
local function span_of(context, tenant, cost)
  local shard = context.shard
  if shard.has_weights == nil then shard.has_weights = redis.call('EXISTS', context.weights) == 1 end
  local weight = shard.has_weights and redis.call('HGET', context.weights, tenant) or 1
  return math.ceil(cost / tonumber(weight))
end

-- Notes that a tenant has had tickets of this cost, and forgets the turns of a level where nothing is ready.
local function note_turn(context, level, tenant, cost)
  local member = level.prefix .. tenant
  local start = redis.call('ZSCORE', context.turns, member)
  if not start then return end
  if first_ready(context, level.prefix)[1] then
    redis.call('ZADD', context.turns, tonumber(start) + span_of(context, tenant, cost), member)
  else
    redis.call('ZREMRANGEBYSCORE', context.turns, level.number * TIMES, (level.number + 1) * TIMES - 1)
    if redis.call('EXISTS', context.turns) == 0 then redis.call('DEL', context.weights) end
  end
end
