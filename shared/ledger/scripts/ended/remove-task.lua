-- Removes an ended task whose retention is over, with all its lookups.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[4] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[5] attempts: hash, attempts of the tenant that others followed by `<id>:<token>`, JSON
-- KEYS[6] index: zset, lookups of all the tenant's tasks
-- KEYS[7] output: stream, output of the task
-- KEYS[8] log: stream, log and progress of the task
-- KEYS[9] journal: hash, entries of the task's journal
-- KEYS[10] questions: zset, questions of the tenant's tasks
-- KEYS[11] slas: zset, slas of the shard's tasks, ms
-- KEYS[12] archive_due: zset, objects of the shard's archive that no task has, by when they are removed, ms
-- ARGV[1] id: text, the task's id
-- ARGV[2] lookups: JSON, array of its members in the index
-- ARGV[3] ended: int, when it ended as the caller read it, ms
-- ARGV[4] member: text, its name among the shard's tasks
-- ARGV[5] tenant: text
-- ARGV[6] removed: text, where its parts were whose object is removed already, or empty
-- RETURNS 1 when it was removed, 0 when it has not ended, or ended again since it was read
-- include: body-layout
-- include: states
-- include: archived
local id = ARGV[1]
local task = load_state(KEYS[1], KEYS[2], id)
if not task or task.completedAt ~= tonumber(ARGV[3]) then return 0 end
local archived = archived_at(redis.call('HGET', KEYS[2], id))
if archived and archived ~= ARGV[6] then redis.call('ZADD', KEYS[12], '0', ARGV[5] .. '/' .. string.match(archived, '^%S+')) end
redis.call('ZREM', KEYS[6], unpack(cjson.decode(ARGV[2])))
for token = 1, task.token do redis.call('HDEL', KEYS[5], id .. ':' .. token) end
for _, hash in ipairs({ KEYS[1], KEYS[2], KEYS[3], KEYS[4] }) do redis.call('HDEL', hash, id) end
redis.call('DEL', KEYS[7], KEYS[8], KEYS[9])
redis.call('ZREMRANGEBYLEX', KEYS[10], '[' .. id .. '.', '(' .. id .. '/')
if task.sla then redis.call('ZREM', KEYS[11], ARGV[4]) end
return 1
