-- Decides whether a configuration is in force: the last that came, as long as one of its schedulers lives.
-- KEYS[1] configurations: hash, configuration -> JSON, when it came and was last in force
-- KEYS[2] processes: sorted set, JSON of a process -> its last beat, ms
-- ARGV[1] configuration: string, that of the caller
-- ARGV[2] silent: int, ms without a beat after which a process is dead
-- ARGV[3] absent: int, ms without a scheduler after which a newer configuration gives way to an older one
-- ARGV[4] max: int, configurations that are kept
-- RETURNS {'in-force', configuration that it replaced or empty} | {'superseded', configuration in force}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local own = ARGV[1]

local newest, oldest, known
local stored = redis.call('HGETALL', KEYS[1])
for position = 1, #stored, 2 do
  local each = cjson.decode(stored[position + 1])
  each.id = stored[position]
  if each.id == own then known = each end
  if not newest or each.at > newest.at then newest = each end
  if each.id ~= own and (not oldest or each.at < oldest.at) then oldest = each end
end

local function enforce(at)
  redis.call('HSET', KEYS[1], own, cjson.encode({ at = at, lastAt = now }))
end

local function has_scheduler(configuration)
  for _, text in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], now - ARGV[2], '+inf')) do
    -- Another release may write another form.
    local is_read, process = pcall(cjson.decode, text)
    local is_of_it = is_read and type(process) == 'table' and process.configuration == configuration
    for _, service in ipairs(is_of_it and process.services or {}) do
      if service == 'scheduler' then return true end
    end
  end
  return false
end

if newest and newest.id == own then
  enforce(known.at)
  return { 'in-force', '' }
end
if known then
  if has_scheduler(newest.id) or now - newest.lastAt < tonumber(ARGV[3]) then return { 'superseded', newest.id } end
  -- Should it return it is a new one.
  redis.call('HDEL', KEYS[1], newest.id)
end
if #stored / 2 >= tonumber(ARGV[4]) and oldest then redis.call('HDEL', KEYS[1], oldest.id) end
-- Never as old as the one before.
enforce(math.max(now, newest and newest.at + 1 or 0))
return { 'in-force', newest and newest.id or '' }
