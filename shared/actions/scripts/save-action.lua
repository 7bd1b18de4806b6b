-- Writes an action, only at the version that was read, with the time of its next step.
-- KEYS[1] actions: hash, the tenant's actions by id, `<version> <open or ended> <JSON>`
-- KEYS[2] due: zset, the shard's actions by the time of their next step, ms
-- KEYS[3] events: stream, the tenant's events
-- ARGV[1] options: JSON, tenant, channel and maxEvents
-- ARGV[2] id: text, of the action
-- ARGV[3] version: int, that was read
-- ARGV[4] kind: text, `open` or `ended`
-- ARGV[5] record: JSON
-- ARGV[6] after: int, ms until it is due, or empty for no change
-- ARGV[7] event: text, its type, or empty for none
-- ARGV[8] about: JSON, for the event
-- RETURNS 1, or 0 when another writer changed or removed it
-- include: publish-action
local options, id = cjson.decode(ARGV[1]), ARGV[2]
local stored = redis.call('HGET', KEYS[1], id)
local written = string.format('%d %s %s', ARGV[3] + 1, ARGV[4], ARGV[5])
-- The client sends a call again when its reply was lost.
if stored == written then return 1 end
if string.match(stored or '', '^(%d+) ') ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], id, written)
if ARGV[6] ~= '' then
  local time = redis.call('TIME')
  local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[6]
  redis.call('ZADD', KEYS[2], due, options.tenant .. '/' .. id)
end
if ARGV[7] ~= '' then publish_action(options, KEYS[3], ARGV[7], ARGV[8]) end
return 1
