-- Writes schedules of one tenant and their due times, each only at the version that was read.
-- KEYS[1] schedules: the tenant's
-- KEYS[2] due: the shard's
-- KEYS[3] events: the tenant's event stream
-- ARGV[1] options: JSON, tenant, channel and maxEvents
-- ARGV[2] changes: JSON, array of {id, version that was read, record, due time in ms or empty, event or empty, reason, about}
-- RETURNS per schedule 1, or 2 when it is due before all others of the shard, or 0 when another writer changed or removed it
-- include: publish-event
local options = cjson.decode(ARGV[1])
local answers = {}
for position, change in ipairs(cjson.decode(ARGV[2])) do
  local id, version, record, wake, event, reason, about = unpack(change)
  local stored = redis.call('HGET', KEYS[1], id)
  local at, number = string.match(stored or '', '^(%d+) (%d+) ')
  answers[position] = at == version and 1 or 0
  if at == version then
    redis.call('HSET', KEYS[1], id, string.format('%d %s %s', at + 1, number, record))
    if wake == '' then
      redis.call('ZREM', KEYS[2], options.tenant .. '/' .. id)
    else
      redis.call('ZADD', KEYS[2], wake, options.tenant .. '/' .. id)
      if redis.call('ZRANK', KEYS[2], options.tenant .. '/' .. id) == 0 then answers[position] = 2 end
    end
    if event ~= '' then publish_event(options, KEYS[3], event, id, reason, number, about) end
  end
end
return answers
