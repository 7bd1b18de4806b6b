-- Removes an ended task whose time to be read is over, with all its lookups.
-- KEYS[1] record: the task's
-- KEYS[2] index: the tenant's lasting lookups
-- KEYS[3] output: its output stream
-- ARGV[1] lookups: JSON array of its members in the index
-- RETURNS 1 when it was removed, 0 when it has not ended
local state = redis.call('HGET', KEYS[1], 'state')
if not state or not cjson.decode(state).completedAt then return 0 end
redis.call('ZREM', KEYS[2], unpack(cjson.decode(ARGV[1])))
redis.call('DEL', KEYS[1], KEYS[3])
return 1
