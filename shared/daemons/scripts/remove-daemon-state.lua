-- Notes that a daemon is not connected any more, unless it has another connection. What was known of it last is kept with its registration.
-- KEYS[1] live: hash, `<tenant>/<id>` -> `<beat, ms> <connection, or -> <JSON>`
-- KEYS[2] daemons: hash, the daemons of its tenant by id
-- ARGV[1] tenant: text, its id
-- ARGV[2] id: text, the daemon's
-- ARGV[3] connection: text, the one that ended
-- RETURNS 1, or 0 when it has another connection or none
local field = ARGV[1] .. '/' .. ARGV[2]
local stored = redis.call('HGET', KEYS[1], field)
local beat, connection, json = string.match(stored or '', '^(%d+) (%S+) (.*)$')
if connection ~= ARGV[3] then return 0 end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then
  redis.call('HSET', KEYS[1], field, beat .. ' - ' .. json)
else
  redis.call('HDEL', KEYS[1], field)
end
return 1
