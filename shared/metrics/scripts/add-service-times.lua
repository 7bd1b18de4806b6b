-- Moves the averages of tenants' service times towards what a process measured.
-- KEYS[1] states: hash, tenants that are disabled or ended
-- KEYS[2...] per tenant: hash, `<agent>/<band>` -> moving average, ms
-- ARGV[1...] per tenant: one addition
--   tenant: text, whose agents these are
--   keep: int, ms after the last measurement
--   max: int, averages of one tenant
--   times: JSON list of [field, mean in ms, its weight from 0 to 1]
-- RETURNS how many were added: all but those of tenants that have ended
-- include: additions
local next_arg = iterate(ARGV, 1)

local function add_times(key, max, times)
  for _, time in ipairs(times) do
    local field, mean, weight = time[1], time[2], time[3]
    local known = tonumber(redis.call('HGET', key, field) or nil)
    if known then mean = known + (mean - known) * weight end
    if known or redis.call('HLEN', key) < max then redis.call('HSET', key, field, string.format('%.3f', mean)) end
  end
end

return add_all(KEYS[1], iterate(KEYS, 2), next_arg, function(key, is_wanted)
  local keep, max, times = next_arg(), next_arg(), next_arg()
  if not is_wanted then return end
  add_times(key, tonumber(max), cjson.decode(times))
  redis.call('PEXPIRE', key, keep)
end)
