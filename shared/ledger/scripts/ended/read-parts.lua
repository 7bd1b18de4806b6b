-- Reads all that the archive takes of an ended task, as of one moment.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[4] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[5] journal: hash, entries of the task's journal
-- ARGV[1] id: text, the task's id
-- RETURNS {fingerprint, body, output, result, journal}, output and result nil for none; {} for a task that has not ended, or is archived
-- include: body-layout
-- include: states
-- include: archived
local id = ARGV[1]
local state, body = redis.call('HGET', KEYS[1], id), redis.call('HGET', KEYS[2], id)
if not state or not body or read_head(state).completedAt == '-' or archived_at(body) then return {} end
local output, result = redis.call('HGET', KEYS[3], id), redis.call('HGET', KEYS[4], id)
local journal = redis.call('HGETALL', KEYS[5])
return { fingerprint_of(state, body, output, result, journal), body, output, result, journal }
