-- Removes an ended task whose time to be read is over, with all its lookups.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] bodies: the tenant's tasks' bodies
-- KEYS[3] outputs: the tenant's tasks' outputs
-- KEYS[4] results: the tenant's tasks' results
-- KEYS[5] attempts: the tenant's attempts that others followed
-- KEYS[6] index: lookups of all the tenant's tasks
-- KEYS[7] stream: its output stream
-- KEYS[8] log: what its agent reported beside its output
-- ARGV[1] id: the task's
-- ARGV[2] lookups: JSON array of its members in the index
-- RETURNS 1 when it was removed, 0 when it has not ended
-- include: states
local id = ARGV[1]
local task = load_state(KEYS[1], KEYS[2], id)
if not task or not task.completedAt then return 0 end
redis.call('ZREM', KEYS[6], unpack(cjson.decode(ARGV[2])))
for token = 1, task.token do redis.call('HDEL', KEYS[5], id .. ':' .. token) end
for _, hash in ipairs({ KEYS[1], KEYS[2], KEYS[3], KEYS[4] }) do redis.call('HDEL', hash, id) end
redis.call('DEL', KEYS[7], KEYS[8])
return 1
