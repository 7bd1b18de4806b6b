-- Takes the long parts of an ended task out of Redis, once an object of the archive has them. It does so only while the task is as it was read.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[4] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[5] journal: hash, entries of the task's journal
-- KEYS[6] archive_due: zset, objects of the shard that no task has, by when they are removed, ms
-- ARGV[1] id: text, the task's id
-- ARGV[2] object: text, its name in archive_due
-- ARGV[3] fingerprint: text, of the parts that the object has
-- ARGV[4] body: JSON, what stays of it
-- ARGV[5] output: what stays of it behind `=`, or empty for nothing
-- ARGV[6] result: JSON behind `=` where it stays, or empty
-- ARGV[7...] per field: one that stays of the journal
--   field: text
--   value: text
-- RETURNS 'archived' | 'changed' | 'late'; late: the object may be removed already
-- include: body-layout
-- include: states
-- include: archived
-- include: iterate
local id, next_arg = ARGV[1], iterate(ARGV, 7)
local state, body = redis.call('HGET', KEYS[1], id), redis.call('HGET', KEYS[2], id)
if not state or not body then return 'changed' end
local output, result = redis.call('HGET', KEYS[3], id), redis.call('HGET', KEYS[4], id)
local journal = redis.call('HGETALL', KEYS[5])
if fingerprint_of(state, body, output, result, journal) ~= ARGV[3] then return 'changed' end
local now = redis.call('TIME')
local due = tonumber(redis.call('ZSCORE', KEYS[6], ARGV[2]))
if not due or due <= now[1] * 1000 + now[2] / 1000 then return 'late' end

redis.call('ZREM', KEYS[6], ARGV[2])
redis.call('HSET', KEYS[2], id, ARGV[4])
for key, text in pairs({ [KEYS[3]] = ARGV[5], [KEYS[4]] = ARGV[6] }) do
  if text == '' then redis.call('HDEL', key, id) else redis.call('HSET', key, id, string.sub(text, 2)) end
end
redis.call('DEL', KEYS[5])
for field in next_arg do redis.call('HSET', KEYS[5], field, next_arg()) end
return 'archived'
