-- Writes schedules of one tenant, each only when nobody wrote it since it was read, and when to look at each next.
-- KEYS[1] schedules: the tenant's
-- KEYS[2] due: the shard's
-- KEYS[3] events: the tenant's event stream
-- ARGV[1] options: JSON of tenant, channel, maxEvents
-- ARGV[2] changes: JSON array of {id, version it was read at, record, when to look at it in ms or empty, event or empty, reason, JSON for the event stream}
-- RETURNS per schedule 1, or 0 when it was written or removed meanwhile
-- include: tell
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
    end
    if event ~= '' then tell(options, KEYS[3], event, id, reason, number, about) end
  end
end
return answers
