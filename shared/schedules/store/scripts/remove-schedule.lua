-- Removes a schedule, only at the version that was read.
-- KEYS[1] schedules: the tenant's
-- KEYS[2] numbers: of the tenant's schedules
-- KEYS[3] creation-keys: id and digest by the key of the creation
-- KEYS[4] due: the shard's
-- KEYS[5] events: the tenant's event stream
-- ARGV[1] options: JSON, tenant, channel and maxEvents
-- ARGV[2] id: string, of the schedule
-- ARGV[3] version: integer, that was read
-- ARGV[4] key: string, under which it was created; or empty
-- ARGV[5] about: JSON, name, agent and session for the event
-- ARGV[6] quiet: `1` for no event, else empty
-- RETURNS 1, or 0 when another writer changed or removed it
-- include: publish-event
local options = cjson.decode(ARGV[1])
local stored = redis.call('HGET', KEYS[1], ARGV[2])
local version, number = string.match(stored or '', '^(%d+) (%d+) ')
if version ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[4], options.tenant .. '/' .. ARGV[2])
if ARGV[4] ~= '' then redis.call('HDEL', KEYS[3], ARGV[4]) end
if ARGV[6] == '' then publish_event(options, KEYS[5], 'schedule.canceled', ARGV[2], '', number, ARGV[5]) end
return 1
