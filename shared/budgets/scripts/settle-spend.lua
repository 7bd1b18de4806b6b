-- Counts what a call has cost in all its windows, once: its reservation is removed, or kept for more while the call goes on.
-- KEYS[1] reservations: hash, open calls of the tenant by `call:<id>`, JSON, and what they reserve in sum by `sum:<window>`
-- KEYS[2] events: stream, the tenant's events
-- KEYS[3...] per window: hash, what was spent in it, and hash, what its budget refused
-- ARGV[1] call: text, its id
-- ARGV[2] cost: int, millionths of a US dollar since its begin
-- ARGV[3] continues: `1` when more may follow, else `0`
-- ARGV[4] options: JSON, the tenant, its channel, and how many events are kept
-- ARGV[5] holder: text, who settles the call, or empty
-- ARGV[6...] per window: its lines
--   name: text, names it among those of the tenant
--   soft: int, its soft line, or empty
--   hard: int, its hard line, or empty
--   keep: int, ms for which it is kept
--   about: JSON, what events say of it; empty for a budget without events
-- RETURNS {'settled' | 'gone', what is spent by window where its hard line is reached, else empty, and by window how many tasks that it holds may
--   start in the room that the call leaves, -1 when they wait in vain}; gone: it was settled, its attempt has ended, or another one has taken it over
-- include: reservations
-- include: room
local text = redis.call('HGET', KEYS[1], 'call:' .. ARGV[1])
if not text then return { 'gone', {}, {} } end
local call, cost, options = cjson.decode(text), tonumber(ARGV[2]), cjson.decode(ARGV[4])
if (call.holder or '') ~= '' and call.holder ~= ARGV[5] then return { 'gone', {}, {} } end
local added, continues = cost - (call.spent or 0), ARGV[3] == '1'

if continues then
  call.spent = cost
  redis.call('HSET', KEYS[1], 'call:' .. ARGV[1], cjson.encode(call))
else
  redis.call('HDEL', KEYS[1], 'call:' .. ARGV[1])
  if call.amount > 0 then
    for _, name in ipairs(call.windows) do add_to_sum(KEYS[1], name, -call.amount) end
  end
end

-- Notifies of a line once in a window.
local function cross(key, line, event, spent, about)
  if about == '' or not line or spent < line or redis.call('HSETNX', key, event, 1) == 0 then return end
  redis.call('XADD', options.events, 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'spent', string.format('%.0f', spent), 'about', about)
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end

local reached, may_start = {}, {}
options.events = KEYS[2]
local keys, values = { unpack(KEYS, 3) }, { unpack(ARGV, 6) }
for at = 1, #keys / 2 do
  local from, key, refused = 5 * at - 4, keys[2 * at - 1], keys[2 * at]
  local soft, hard = tonumber(values[from + 1]), tonumber(values[from + 2])
  local spent = added ~= 0 and redis.call('HINCRBY', key, 'spent', string.format('%.0f', added)) or tonumber(redis.call('HGET', key, 'spent') or 0)
  cross(key, soft, 'budget.warning', spent, values[from + 4])
  cross(key, hard, 'budget.exceeded', spent, values[from + 4])
  -- A line of 0 is noted where nothing was spent.
  redis.call('PEXPIRE', key, values[from + 3])
  reached[at] = hard and spent >= hard and string.format('%.0f', spent) or ''
  may_start[at] = 0
  -- Mostly it refused nothing.
  if hard and (call.amount > 0 or spent >= hard) and redis.call('EXISTS', refused) == 1 then
    local reserved = tonumber(redis.call('HGET', KEYS[1], 'sum:' .. values[from]) or 0)
    if not continues then may_start[at] = grant_room(refused, hard - spent - reserved, reserved) or 0 end
    if may_start[at] == 0 and is_over(refused, hard - spent - reserved, reserved) then may_start[at] = -1 end
  end
end
return { 'settled', reached, may_start }
