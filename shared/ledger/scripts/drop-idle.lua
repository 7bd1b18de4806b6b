-- Drops what workers said of their idle slots and did not say again.
-- KEYS[1] idle: hash, idle slots of the shard by queue, and of each worker
-- RETURNS how many workers it dropped
local time = redis.call('TIME')
local now, dropped = time[1] * 1000 + math.floor(time[2] / 1000), 0
local all = redis.call('HGETALL', KEYS[1])
for position = 1, #all, 2 do
  local ends, slots = string.match(all[position + 1], '^(%d+) (.*)$')
  if string.sub(all[position], 1, 1) == '@' and tonumber(ends) < now then
    redis.call('HDEL', KEYS[1], all[position])
    for queue, count in string.gmatch(slots, '([^,=]+)=(%d+)') do
      if redis.call('HINCRBY', KEYS[1], queue, -count) <= 0 then redis.call('HDEL', KEYS[1], queue) end
    end
    dropped = dropped + 1
  end
end
return dropped
