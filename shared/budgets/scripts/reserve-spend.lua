-- Reserves an amount in all windows that count a call, or in none when it does not fit. What ended attempts have left reserved goes first.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] reservations: hash, open calls of the tenant by `call:<id>`, JSON, and what they reserve in sum by `sum:<window>`
-- KEYS[3...] per window: hash, what was spent in it, and hash, what its budget refused
-- ARGV[1] call: text, its id
-- ARGV[2] lease: text, lease member of its attempt
-- ARGV[3] amount: int, millionths of a US dollar
-- ARGV[4] holder: text, who settles the call, or empty; another one takes it over
-- ARGV[5...] per window: its name, its line, and what follows a refusal
--   name: text, names it among those of the tenant
--   line: int, its hard line, or empty
--   pauses: `1` where the used up budget holds tasks, else `0`
-- RETURNS {'reserved'} | {'exceeded', number of the window, spent, reserved by other calls}
-- include: reservations
-- include: room
local id, member, amount, holder = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local keys, values, windows = { unpack(KEYS, 3) }, { unpack(ARGV, 5) }, {}
for at = 1, #keys / 2 do
  local name, line, pauses = unpack(values, 3 * at - 2, 3 * at)
  windows[at] = { name = name, line = tonumber(line), pauses = pauses == '1', spent = keys[2 * at - 1], refused = keys[2 * at] }
end

-- The first window whose line the amount would pass. Returns its number, and what is spent and reserved there.
local function find_exceeded()
  local sums = {}
  for at, window in ipairs(windows) do sums[at] = 'sum:' .. window.name end
  local reserved_in = redis.call('HMGET', KEYS[2], unpack(sums))
  for at, window in ipairs(windows) do
    if window.line then
      local spent, reserved = tonumber(redis.call('HGET', window.spent, 'spent') or 0), tonumber(reserved_in[at] or 0)
      if spent >= window.line or spent + reserved + amount > window.line then return at, spent, reserved end
    end
  end
  return nil
end

-- The client sends a call again when the reply was lost, and a hub one that it has adopted with its attempt.
local known = redis.call('HGET', KEYS[2], 'call:' .. id)
if known then
  local call = cjson.decode(known)
  if (call.holder or '') ~= holder then
    call.holder = holder
    redis.call('HSET', KEYS[2], 'call:' .. id, cjson.encode(call))
  end
  return { 'reserved' }
end
-- Reservations of killed attempts do not gather, because each call checks two others.
release_ended(KEYS[2], KEYS[1], redis.call('HRANDFIELD', KEYS[2], 2, 'WITHVALUES'))
local at, spent, reserved = find_exceeded()
if at and reserved > 0 then
  release_ended(KEYS[2], KEYS[1], redis.call('HGETALL', KEYS[2]))
  at, spent, reserved = find_exceeded()
end
if at then
  local window = windows[at]
  local waits_for_calls = spent < window.line and spent + amount <= window.line
  if waits_for_calls or (window.pauses and amount <= window.line) then note_refusal(window.refused, amount) end
  return { 'exceeded', at, string.format('%.0f', spent), string.format('%.0f', reserved) }
end
local names = {}
for number, window in ipairs(windows) do
  names[number] = window.name
  if amount > 0 then
    redis.call('HINCRBY', KEYS[2], 'sum:' .. window.name, ARGV[3])
    if window.line then keep_promise(window.refused) end
  end
end
redis.call('HSET', KEYS[2], 'call:' .. id, cjson.encode({ lease = member, amount = amount, windows = names, holder = holder }))
return { 'reserved' }
