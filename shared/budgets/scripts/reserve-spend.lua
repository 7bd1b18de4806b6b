-- Reserves an amount in all windows that count a call, or in none when not even the least of it fits. What ended attempts have left reserved
-- goes first. Where money is short, a call takes a quarter of it at most, unless it usually needs more, so that others run beside it.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] reservations: hash, open calls of the tenant by `call:<id>`, JSON, and what they reserve in sum by `sum:<window>`
-- KEYS[3...] per window: hash, what was spent in it, and hash, what its budget refused
-- ARGV[1] call: text, its id
-- ARGV[2] lease: text, lease member of its attempt, or `until <ms>` of a call that waits without one
-- ARGV[3] amount: int, the most that it costs, millionths of a US dollar
-- ARGV[4] usual: int, what it usually costs; the same as the amount where nobody knows
-- ARGV[5] least: int, what it needs to go at all
-- ARGV[6] holder: text, who settles the call, or empty; another one takes it over
-- ARGV[7...] per window: its name, its line, and what follows a refusal
--   name: text, names it among those of the tenant
--   line: int, its hard line, or empty
--   pauses: `1` where the used up budget holds tasks, else `0`
-- RETURNS {'reserved', amount} | {'exceeded', number of the window, spent, reserved by other calls}
-- include: reservations
-- include: room
local id, member, holder = ARGV[1], ARGV[2], ARGV[6]
local amount, usual, least = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local keys, values, windows = { unpack(KEYS, 3) }, { unpack(ARGV, 7) }, {}
for at = 1, #keys / 2 do
  local name, line, pauses = unpack(values, 3 * at - 2, 3 * at)
  windows[at] = { name = name, line = tonumber(line), pauses = pauses == '1', spent = keys[2 * at - 1], refused = keys[2 * at] }
end

-- What a call that finds so much left needs: its usual amount, less only where nobody else holds the rest.
local function needed_of(left)
  return math.max(least, math.min(usual, left))
end

-- What all windows grant. Without it returns nil, the number of the first window that has no room, and what is spent and reserved there.
local function find_amount()
  local sums, granted = {}, amount
  for at, window in ipairs(windows) do sums[at] = 'sum:' .. window.name end
  local reserved_in = redis.call('HMGET', KEYS[2], unpack(sums))
  for at, window in ipairs(windows) do
    if window.line then
      local spent, reserved = tonumber(redis.call('HGET', window.spent, 'spent') or 0), tonumber(reserved_in[at] or 0)
      local left, room = window.line - spent, window.line - spent - reserved
      local needed = needed_of(left)
      if left <= 0 or room < needed then return nil, at, spent, reserved end
      granted = math.min(granted, math.max(needed, math.floor(room / 4)))
    end
  end
  return granted
end

-- The client sends a call again when the reply was lost, and a hub one that it has adopted with its attempt.
local known = redis.call('HGET', KEYS[2], 'call:' .. id)
if known then
  local call = cjson.decode(known)
  if (call.holder or '') ~= holder then
    call.holder = holder
    redis.call('HSET', KEYS[2], 'call:' .. id, cjson.encode(call))
  end
  return { 'reserved', string.format('%.0f', call.amount) }
end
-- Reservations of killed attempts do not gather, because each call checks two others.
release_ended(KEYS[2], KEYS[1], redis.call('HRANDFIELD', KEYS[2], 2, 'WITHVALUES'))
local granted, at, spent, reserved = find_amount()
if at and reserved > 0 then
  release_ended(KEYS[2], KEYS[1], redis.call('HGETALL', KEYS[2]))
  granted, at, spent, reserved = find_amount()
end
if not granted then
  local window = windows[at]
  local needed = needed_of(window.line - spent)
  local waits_for_calls = spent < window.line and spent + needed <= window.line
  if waits_for_calls or window.pauses then note_refusal(window.refused, needed, least) end
  return { 'exceeded', at, string.format('%.0f', spent), string.format('%.0f', reserved) }
end
local names = {}
for number, window in ipairs(windows) do
  names[number] = window.name
  if granted > 0 then
    redis.call('HINCRBY', KEYS[2], 'sum:' .. window.name, string.format('%.0f', granted))
    if window.line then keep_promise(window.refused) end
  end
end
redis.call('HSET', KEYS[2], 'call:' .. id, cjson.encode({ lease = member, amount = granted, windows = names, holder = holder }))
return { 'reserved', string.format('%.0f', granted) }
