-- Removes a schedule, when nobody wrote it since it was read.
-- KEYS[1] schedules: the tenant's
-- KEYS[2] numbers: of the tenant's schedules
-- KEYS[3] made-under: keys under which schedules were made
-- KEYS[4] due: the shard's
-- KEYS[5] events: the tenant's event stream
-- ARGV[1] options: JSON of tenant, channel, maxEvents
-- ARGV[2] id: of the schedule
-- ARGV[3] version: it was read at
-- ARGV[4] key: under which it was made, or empty
-- ARGV[5] about: JSON for the event stream
-- ARGV[6] quietly: `1` when nobody has to hear of it, else empty
-- RETURNS 1, or 0 when it was written or removed meanwhile
-- include: tell
local options = cjson.decode(ARGV[1])
local stored = redis.call('HGET', KEYS[1], ARGV[2])
local version, number = string.match(stored or '', '^(%d+) (%d+) ')
if version ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[4], options.tenant .. '/' .. ARGV[2])
if ARGV[4] ~= '' then redis.call('HDEL', KEYS[3], ARGV[4]) end
if ARGV[6] == '' then tell(options, KEYS[5], 'schedule.canceled', ARGV[2], '', number, ARGV[5]) end
return 1
