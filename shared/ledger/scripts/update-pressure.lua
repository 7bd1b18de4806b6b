-- Compares a tenant's load with its limits, counts the tasks refused because of it, and publishes an event when it crossed a limit since
-- the last time. A level ends below a share of its limits, so that a tenant that stays near them gets one event.
-- KEYS[1] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[2] pressure: hash, levels of the shard's tenants that have one
-- KEYS[3] events: stream, the tenant's events
-- KEYS[4] shed: hash, refused tasks by source and band since the pressure began, and `published`, ms
-- ARGV[1] options: JSON, tenant, channel, maxEvents, warning and critical (depth, waitMs), recoverAt, shedEventMs, slowDown, running, msPerStart,
--   msPerGrant
-- ARGV[2] refused: JSON, tasks refused since the last call, by source and band
-- RETURNS {level now: 'critical' | 'warning' | 'none', level before, depth, wait in ms or -1, what bounds the starts: 'caps' | 'slots'}
-- include: depth
local options, refused = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
local known = redis.call('HGET', KEYS[2], options.tenant) or 'none'
local ranks = { none = 0, warning = 1, critical = 2 }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function count_of(prefix)
  return redis.call('ZLEXCOUNT', KEYS[1], '[' .. prefix, '(' .. prefix .. '\255')
end

local granted, backlog = count_of('granted='), count_of('backlog=')
-- What waits for a slot or a cap, at the pace of the last starts, and at a cap of the grants. Lanes and times have paces of their own.
local slots_ms = math.max(0, granted + backlog - options.running) * (options.msPerStart or 0)
local caps_ms = backlog * (options.msPerGrant or 0)

local function estimate_wait()
  if not options.msPerStart and not options.msPerGrant then return -1 end
  return math.floor(math.max(slots_ms, caps_ms))
end

-- More slots start nothing more where tasks wait for a cap and all that have a grant run.
local function find_bound()
  if backlog == 0 then return 'slots' end
  local is_by_caps = granted <= options.running
  if options.msPerGrant then is_by_caps = caps_ms > slots_ms end
  return is_by_caps and 'caps' or 'slots'
end

local depth, wait_ms, bound = depth_of(KEYS[1]), estimate_wait(), find_bound()

local function reaches(level, share)
  local limit = options[level]
  return depth >= limit.depth * share or (limit.waitMs and wait_ms >= limit.waitMs * share)
end

local function level_now()
  local level = reaches('critical', 1) and 'critical' or reaches('warning', 1) and 'warning' or 'none'
  if ranks[level] < ranks[known] and reaches(known, options.recoverAt) then return known end
  return level
end

-- Returns the refused tasks by source and band as JSON, or nil where none was refused, and when that was published last.
local function add_refused()
  for name, count in pairs(refused) do redis.call('HINCRBY', KEYS[4], name, count) end
  local stored, counts, published = redis.call('HGETALL', KEYS[4]), {}, 0
  for position = 1, #stored, 2 do
    if stored[position] == 'published' then published = tonumber(stored[position + 1])
    else counts[stored[position]] = tonumber(stored[position + 1]) end
  end
  return next(counts) and cjson.encode(counts), published
end

local function publish(event, level, shed)
  local fields = { 'event', event, 'depth', depth, 'level', level, 'wait', wait_ms, 'bound', bound, 'slow', options.slowDown }
  if shed then
    fields[#fields + 1] = 'shed'
    fields[#fields + 1] = shed
  end
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', options.maxEvents, '*', unpack(fields))
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end

local level = level_now()
local shed, published = add_refused()
if level ~= known then
  if level == 'none' then redis.call('HDEL', KEYS[2], options.tenant) else redis.call('HSET', KEYS[2], options.tenant, level) end
  publish('backpressure.' .. (level == 'none' and 'cleared' or level), level, shed)
elseif shed and next(refused) and (level == 'none' or now - published >= options.shedEventMs) then
  publish('backpressure.shed', level, shed)
  redis.call('HSET', KEYS[4], 'published', now)
end
if level == 'none' then redis.call('DEL', KEYS[4]) end
return { level, known, depth, wait_ms, bound }
