-- Sets how many of the fleet's permits a worker holds, gives it more while the cap has room, and wakes those who wait for one.
-- KEYS[1] permits: how many each worker holds, by `<kind> <worker>`
-- KEYS[2] holders: workers -> until when their permits stand, ms
-- KEYS[3] waiters: `<kind> <worker>` -> `<rank> <permits> <ms>`: what it waits for, and when it last said so
-- ARGV[1] options: JSON of channel, cap, reserved (for critical, where a worker serves it), leaseMs (0 when the worker ends), staleMs
-- ARGV[2] worker: its name
-- ARGV[3] kind: `critical` or `ordinary`
-- ARGV[4] holds: of that kind, after what it gives back
-- ARGV[5] needs: more that it has tickets for
-- ARGV[6] spare: more beyond those, for tickets to come, where nobody waits
-- ARGV[7] rank: of its best ticket; less goes first
-- RETURNS {'held', count, 1 when others wait for what it may hold, else 0} | {'lost'}, when its lease had ended
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local options = cjson.decode(ARGV[1])
local worker, kind, holds, needs, spare = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local own = kind .. ' ' .. worker

local function remove(name)
  redis.call('ZREM', KEYS[2], name)
  redis.call('HDEL', KEYS[1], 'critical ' .. name, 'ordinary ' .. name)
  redis.call('HDEL', KEYS[3], 'critical ' .. name, 'ordinary ' .. name)
end

for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do remove(dead) end
if holds > 0 and not redis.call('ZSCORE', KEYS[2], worker) then return { 'lost' } end
if options.leaseMs == 0 then
  remove(worker)
else
  redis.call('ZADD', KEYS[2], now + options.leaseMs, worker)
  redis.call('HSET', KEYS[1], own, holds)
end

local held, reserved = { critical = 0, ordinary = 0 }, 0
local counts = redis.call('HGETALL', KEYS[1])
for position = 1, #counts, 2 do
  local of = string.match(counts[position], '^%S+')
  held[of] = held[of] + counts[position + 1]
  if of == 'critical' then reserved = options.reserved end
end

local function room_for(of)
  local room = options.cap - held.critical - held.ordinary
  if of == 'ordinary' then room = math.min(room, options.cap - reserved - held.ordinary) end
  return math.max(0, room)
end

-- Critical work first, then by rank.
local function place_of(name, rank) return string.match(name, '^%S+') .. ' ' .. rank .. ' ' .. name end

local line, ahead = {}, 0
local waiters = redis.call('HGETALL', KEYS[3])
for position = 1, #waiters, 2 do
  local name, rank, wants, seen = waiters[position], string.match(waiters[position + 1], '^(%S+) (%d+) (%d+)$')
  if seen + options.staleMs < now then
    redis.call('HDEL', KEYS[3], name)
  elseif name ~= own then
    local place = place_of(name, rank)
    line[#line + 1] = { name = name, place = place, wants = tonumber(wants) }
    if place < place_of(own, ARGV[7]) then ahead = ahead + wants end
  end
end
table.sort(line, function(one, other) return one.place < other.place end)

local given = math.min(needs, math.max(0, room_for(kind) - ahead))
held[kind] = held[kind] + given
local more = 0
if given == needs and #line == 0 then
  -- Half of what is left: others come too.
  more = math.min(spare, math.floor(room_for(kind) / 2))
  if kind == 'critical' then more = math.min(more, math.max(0, reserved - held.critical)) end
  held[kind] = held[kind] + more
end
if given + more > 0 then redis.call('HSET', KEYS[1], own, holds + given + more) end
if given < needs then
  redis.call('HSET', KEYS[3], own, string.format('%s %d %d', ARGV[7], needs - given, now))
  redis.call('PUBLISH', options.channel, 'wanted ' .. own)
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
return { 'held', holds + given + more, matters and 1 or 0 }
