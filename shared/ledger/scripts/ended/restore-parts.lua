-- Gives an ended task the parts back that an object of the archive has. What was written to its journal since stays.
-- KEYS[1] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[2] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[3] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[4] journal: hash, entries of the task's journal
-- KEYS[5] archive_due: zset, objects of the shard that no task has, by when they are removed, ms
-- ARGV[1] id: text, the task's id
-- ARGV[2] object: text, its name in archive_due
-- ARGV[3] place: text, where the parts are, as the body says it
-- ARGV[4] due: int, when the object is removed, ms
-- ARGV[5] body: text
-- ARGV[6] output: text behind `=`, or empty for none
-- ARGV[7] result: JSON behind `=`, or empty for none
-- ARGV[8...] per field: one of the journal
--   field: text
--   value: text
-- RETURNS 1 when it has them, 0 when its parts are not there any more
-- include: archived
-- include: iterate
local id, next_arg = ARGV[1], iterate(ARGV, 8)
if archived_at(redis.call('HGET', KEYS[1], id)) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], id, ARGV[5])
for key, text in pairs({ [KEYS[2]] = ARGV[6], [KEYS[3]] = ARGV[7] }) do
  if text == '' then redis.call('HDEL', key, id) else redis.call('HSET', key, id, string.sub(text, 2)) end
end
local later = redis.call('HGETALL', KEYS[4])
for field in next_arg do redis.call('HSET', KEYS[4], field, next_arg()) end
for at = 1, #later, 2 do redis.call('HSET', KEYS[4], later[at], later[at + 1]) end
redis.call('HDEL', KEYS[4], 'archived')
redis.call('ZADD', KEYS[5], ARGV[4], ARGV[2])
return 1
