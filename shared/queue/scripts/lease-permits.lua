-- Sets how many of the fleet's permits a worker holds, grants it more while the cap has room, and wakes the workers that wait. Attempts that
-- outlive their process, as those of a hub do, have their permits under another lease and as `<worker>/attempts`.
-- KEYS[1] permits: hash, `<kind> <worker>` -> permits that it holds
-- KEYS[2] holders: sorted set, worker -> end of its lease, ms
-- KEYS[3] waiters: hash, `<kind> <worker>` -> `<rank> <permits> <ms>`: what it waits for, and its last call
-- ARGV[1] options: JSON object of channel, cap, reserved (for critical, where a worker serves it), leaseMs (0 when it ends), staleMs, keepMs
--   (how long those of its attempts stand without it, 0 when they end with it), from (permits that it takes over, by worker)
-- ARGV[2] worker: text, its name
-- ARGV[3] kind: text, `critical` or `ordinary`
-- ARGV[4] holds: int, permits of that kind that it keeps
-- ARGV[5] needs: int, more that it has tickets for
-- ARGV[6] spare: int, more for later tickets, granted only while no worker waits
-- ARGV[7] rank: text, `<priority>/<ms>/<queue>+...`, of its best ticket, and all queues that it serves; less goes first
-- ARGV[8] attempts: int, of what it keeps, permits that its attempts use
-- RETURNS {'held', count (less than `holds` when the cap was lowered), others, moved} | {'lost'}, when its lease had ended; others: 0, 1 when some
--   wait for what it may hold, 2 when some of these serve queues that it does not, or do not say what they serve; moved: how many of its permits
--   others have taken over since its last call
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local options = cjson.decode(ARGV[1])
local worker, kind, holds, needs, spare = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local own, attempts = kind .. ' ' .. worker, tonumber(ARGV[8])
local lasting, lasting_holder = own .. '/attempts', worker .. '/attempts'

local function remove(name)
  redis.call('ZREM', KEYS[2], name)
  redis.call('HDEL', KEYS[1], 'critical ' .. name, 'ordinary ' .. name)
  redis.call('HDEL', KEYS[3], 'critical ' .. name, 'ordinary ' .. name)
end

for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do remove(dead) end
local known, moved = redis.call('HMGET', KEYS[1], own, lasting), 0
local spares, lasts = tonumber(known[1]) or 0, tonumber(known[2]) or 0
if not redis.call('ZSCORE', KEYS[2], worker) then
  if holds > 0 and lasts == 0 then return { 'lost' } end
  -- It was frozen, shorter than its attempts last.
  holds = math.min(holds, lasts)
else
  -- What another one has taken over is not its any more.
  moved = math.max(0, holds - spares - lasts)
  holds, attempts = holds - moved, math.max(0, attempts - moved)
end

-- Takes over what attempts use that the worker has adopted.
for before, count in pairs(options.from) do
  local got = 0
  for _, name in ipairs({ kind .. ' ' .. before .. '/attempts', kind .. ' ' .. before }) do
    local part = math.min(count - got, tonumber(redis.call('HGET', KEYS[1], name) or 0))
    if part > 0 then redis.call('HINCRBY', KEYS[1], name, -part) end
    got = got + part
  end
  holds, attempts = holds + got, attempts + got
  if got > 0 then redis.call('PUBLISH', options.channel, 'moved ' .. kind .. ' ' .. before) end
end

local function write()
  local kept = options.keepMs > 0 and math.min(attempts, holds) or 0
  if kept > 0 then
    redis.call('ZADD', KEYS[2], now + options.keepMs, lasting_holder)
    redis.call('HSET', KEYS[1], lasting, kept)
  elseif lasts > 0 then
    remove(lasting_holder)
  end
  if options.leaseMs > 0 then redis.call('HSET', KEYS[1], own, holds - kept) end
end

if options.leaseMs == 0 then
  remove(worker)
  holds = options.keepMs > 0 and math.min(attempts, holds) or 0
else
  redis.call('ZADD', KEYS[2], now + options.leaseMs, worker)
end
write()

local held, reserved = { critical = 0, ordinary = 0 }, 0
local counts = redis.call('HGETALL', KEYS[1])
for position = 1, #counts, 2 do
  local of = string.match(counts[position], '^%S+')
  held[of] = held[of] + counts[position + 1]
  if of == 'critical' then reserved = options.reserved end
end

-- The cap was lowered: what is held above it returns. Its tickets run on, and the worker takes no others until as many have ended.
local above = held.critical + held.ordinary - options.cap
if kind == 'ordinary' then above = math.max(above, held.ordinary - options.cap + reserved) end
local excess = math.min(holds, above)
if excess > 0 then
  holds, held[kind] = holds - excess, held[kind] - excess
  write()
end

local function room_for(of)
  local room = options.cap - held.critical - held.ordinary
  if of == 'ordinary' then room = math.min(room, options.cap - reserved - held.ordinary) end
  return math.max(0, room)
end

-- Critical work first, then by rank.
local function place_of(name, rank) return string.match(name, '^%S+') .. ' ' .. rank .. ' ' .. name end

local served = {}
for queue in string.gmatch(string.match(ARGV[7], '^%d+/%d+/(%S+)$') or '', '[^+]+') do served[queue] = true end

-- Whether a worker, by its rank, may start what this one may not.
local function is_foreign(rank)
  local queues = string.match(rank, '^%d+/%d+/(%S+)$')
  for queue in string.gmatch(queues or '?', '[^+]+') do
    if not served[queue] then return true end
  end
  return false
end

local line, ahead, others = {}, 0, 1
local waiters = redis.call('HGETALL', KEYS[3])
for position = 1, #waiters, 2 do
  local name, rank, wants, seen = waiters[position], string.match(waiters[position + 1], '^(%S+) (%d+) (%d+)$')
  if seen + options.staleMs < now then
    redis.call('HDEL', KEYS[3], name)
  elseif name ~= own then
    local place = place_of(name, rank)
    line[#line + 1] = { name = name, place = place, wants = tonumber(wants) }
    if is_foreign(rank) then others = 2 end
    if place < place_of(own, ARGV[7]) then ahead = ahead + wants end
  end
end
table.sort(line, function(one, other) return one.place < other.place end)

local granted = math.min(needs, math.max(0, room_for(kind) - ahead))
held[kind] = held[kind] + granted
local more = 0
if granted == needs and #line == 0 then
  -- Half of what is left: others come too.
  more = math.min(spare, math.floor(room_for(kind) / 2))
  if kind == 'critical' then more = math.min(more, math.max(0, reserved - held.critical)) end
  held[kind] = held[kind] + more
end
if granted + more > 0 then redis.call('HINCRBY', KEYS[1], own, granted + more) end
if granted < needs then
  redis.call('HSET', KEYS[3], own, string.format('%s %d %d', ARGV[7], needs - granted, now))
  redis.call('PUBLISH', options.channel, 'wanted ' .. own .. ' ' .. (string.match(ARGV[7], '^%d+/%d+/(%S+)$') or ''))
else
  redis.call('HDEL', KEYS[3], own)
end

local woken = {}
for _, waiter in ipairs(line) do
  local of = string.match(waiter.name, '^%S+')
  local room = math.min(room_for(of), waiter.wants)
  if room > 0 then
    held[of] = held[of] + room
    woken[#woken + 1] = waiter.name
  end
end
if #woken > 0 then redis.call('PUBLISH', options.channel, 'free ' .. table.concat(woken, ',')) end
local matters = #line > 0 and (kind == 'ordinary' or string.match(line[1].name, '^critical ') or held.critical > reserved)
return { 'held', holds + granted + more, matters and others or 0, moved }
