-- Moves the averages of a tenant's service times towards what a process measured.
-- KEYS[1] times: hash, `<agent>/<band>` -> moving average, ms
-- KEYS[2] states: hash, tenants that are disabled or ended
-- ARGV[1] tenant: text, whose agents these are
-- ARGV[2] keep: int, ms after the last measurement
-- ARGV[3] max: int, averages of one tenant
-- ARGV[4] times: JSON list of [field, mean in ms, its weight from 0 to 1]
-- RETURNS 1, or 0 for a tenant that has ended
if redis.call('HGET', KEYS[2], ARGV[1]) == 'ended' then return 0 end
for _, time in ipairs(cjson.decode(ARGV[4])) do
  local field, mean, weight = time[1], time[2], time[3]
  local known = tonumber(redis.call('HGET', KEYS[1], field) or nil)
  if known then mean = known + (mean - known) * weight end
  if known or redis.call('HLEN', KEYS[1]) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], field, string.format('%.3f', mean)) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
