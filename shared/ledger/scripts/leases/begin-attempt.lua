-- Begins an attempt that was left to its daemon, because the daemon has accepted it.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] events: stream, the tenant's events
-- KEYS[3] leases: zset, running attempts of the shard by the end of their lease, ms
-- ARGV[1] options: JSON, the context: tenant, channel, maxEvents and maxTimelineBytes
-- ARGV[2] id: text, the task's id
-- ARGV[3] token: int, the attempt's fencing token
-- RETURNS {'begun', state} | {'known', state}: it had begun before | {'lost'}: the attempt is over
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
-- include: begin-attempt
local context = open_context(ARGV[1], KEYS[1], '', '', KEYS[2], '', '')
local id = ARGV[2]
local text = redis.call('HGET', KEYS[1], id)
-- An attempt of a daemon has a tail.
local task = text and read_known(text)
if not task or not task.daemon or task.status ~= 'running' or task.token ~= tonumber(ARGV[3]) then return { 'lost' } end
if not redis.call('ZSCORE', KEYS[3], shard_member(context, id) .. '/' .. ARGV[3]) then return { 'lost' } end
if not task.isAssigned then return { 'known', text } end
local event = begin_attempt(context, task)
local state = write_state(task)
redis.call('HSET', KEYS[1], id, state)
emit(context, id, event, '[{"attempt":' .. task.attempt .. '}]')
return { 'begun', state }
