-- What a budget refused for lack of room: `least` is the smallest amount, of which a call may go without all but `floor` where no more is left,
-- `any` stands for tasks that need any room at all, and `promised` for what released tasks may reserve until `promised_until`.
local REFUSED_MS, PROMISE_MS = 600000, 5000

local function time_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function note_smallest(key, field, amount)
  if amount < (tonumber(redis.call('HGET', key, field)) or math.huge) then redis.call('HSET', key, field, string.format('%.0f', amount)) end
end

local function note_refusal(key, amount, floor)
  if amount == 0 then
    redis.call('HSET', key, 'any', 1)
  else
    note_smallest(key, 'least', amount)
    note_smallest(key, 'floor', floor)
  end
  redis.call('PEXPIRE', key, REFUSED_MS)
end

-- A call reserved its amount, perhaps of a task that was released for it.
local function keep_promise(key)
  local values = redis.call('HMGET', key, 'promised', 'least')
  local left = (tonumber(values[1]) or 0) - (tonumber(values[2]) or 0)
  if left > 0 then
    redis.call('HSET', key, 'promised', string.format('%.0f', left))
  elseif values[1] then
    redis.call('HDEL', key, 'promised')
  end
end

-- Whether what waits for this room waits in vain: all is spent, or the room is too small, and no call goes on or may start that could leave more.
local function is_over(key, room, reserved)
  if room + reserved <= 0 then return true end
  local values = redis.call('HMGET', key, 'promised', 'promised_until')
  local is_promised = (tonumber(values[1]) or 0) > 0 and time_ms() < (tonumber(values[2]) or 0)
  return reserved <= 0 and not is_promised
end

-- How many tasks this room may start beside what is reserved, whose amounts are promised from then on; nil when it is too small or the amounts
-- are not known.
local function grant_room(key, room, reserved)
  local values = redis.call('HMGET', key, 'least', 'promised', 'promised_until', 'floor')
  local least = tonumber(values[1])
  if not least or room <= 0 then return nil end
  -- A call that found more left than there is now takes what is left.
  least = math.max(tonumber(values[4]) or least, math.min(least, room + reserved))
  if room < least then return nil end
  local now = time_ms()
  local promised = now < (tonumber(values[3]) or 0) and tonumber(values[2]) or 0
  local count = math.max(0, math.floor((room - promised) / least))
  if count > 0 then
    redis.call('HSET', key, 'promised', string.format('%.0f', promised + count * least), 'promised_until', now + PROMISE_MS)
  end
  return count
end
