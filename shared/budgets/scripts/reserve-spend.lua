-- Reserves an amount in all windows that count a call, or in none when it does not fit. What ended attempts have left reserved goes first.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] reservations: hash, open calls of the tenant by `call:<id>`, JSON, and what they reserve in sum by `sum:<window>`
-- KEYS[3...] per window: hash, what was spent in it
-- ARGV[1] call: text, its id
-- ARGV[2] lease: text, lease member of its attempt
-- ARGV[3] amount: int, millionths of a US dollar
-- ARGV[4...] per window: its name and its line
--   name: text, names it among those of the tenant
--   line: int, its hard line, or empty
-- RETURNS {'reserved'} | {'exceeded', number of the window, spent, reserved by other calls}
local id, member, amount = ARGV[1], ARGV[2], tonumber(ARGV[3])
local windows, values = { unpack(KEYS, 3) }, { unpack(ARGV, 4) }
local names, lines = {}, {}
for at = 1, #windows do names[at], lines[at] = values[2 * at - 1], tonumber(values[2 * at]) or false end

-- The first window whose line the amount would pass. Returns its number, and what is spent and reserved there.
local function find_exceeded()
  local sums = {}
  for at, name in ipairs(names) do sums[at] = 'sum:' .. name end
  local reserved_in = redis.call('HMGET', KEYS[2], unpack(sums))
  for at in ipairs(names) do
    if lines[at] then
      local spent, reserved = tonumber(redis.call('HGET', windows[at], 'spent') or 0), tonumber(reserved_in[at] or 0)
      if spent >= lines[at] or spent + reserved + amount > lines[at] then return at, spent, reserved end
    end
  end
  return nil
end

local function add_to_sum(name, change)
  if redis.call('HINCRBY', KEYS[2], 'sum:' .. name, change) <= 0 then redis.call('HDEL', KEYS[2], 'sum:' .. name) end
end

-- `field`: perhaps of an open call, whose attempt may have ended.
local function release_if_ended(field, text)
  if string.sub(field, 1, 5) ~= 'call:' then return end
  local call = cjson.decode(text)
  if redis.call('ZSCORE', KEYS[1], call.lease) then return end
  redis.call('HDEL', KEYS[2], field)
  for _, name in ipairs(call.amount > 0 and call.windows or {}) do add_to_sum(name, -call.amount) end
end

local function release_ended(fields)
  for at = 1, #fields, 2 do release_if_ended(fields[at], fields[at + 1]) end
end

-- The client sends a call again when the reply was lost.
if redis.call('HEXISTS', KEYS[2], 'call:' .. id) == 1 then return { 'reserved' } end
-- Reservations of killed attempts do not gather, because each call checks two others.
release_ended(redis.call('HRANDFIELD', KEYS[2], 2, 'WITHVALUES'))
local at, spent, reserved = find_exceeded()
if at and reserved > 0 then
  release_ended(redis.call('HGETALL', KEYS[2]))
  at, spent, reserved = find_exceeded()
end
if at then return { 'exceeded', at, string.format('%.0f', spent), string.format('%.0f', reserved) } end
redis.call('HSET', KEYS[2], 'call:' .. id, cjson.encode({ lease = member, amount = amount, windows = names }))
for _, name in ipairs(names) do
  if amount > 0 then redis.call('HINCRBY', KEYS[2], 'sum:' .. name, ARGV[3]) end
end
return { 'reserved' }
