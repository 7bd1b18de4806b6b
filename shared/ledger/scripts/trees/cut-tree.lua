-- Cuts the tasks that descend from a root: from here on none is accepted and none starts. Its tenant is notified, once.
-- KEYS[1] tree: hash, of one root task: `tasks` that descend from it, and `cut`, why no more are accepted
-- KEYS[2] events: stream, the tenant's events
-- ARGV[1] options: JSON, the context: tenant, channel and maxEvents
-- ARGV[2] root: text, id of the root
-- ARGV[3] reason: text, for people
-- ARGV[4] keep: int, ms that the cut is kept
-- RETURNS 1, or 0 when it was cut before
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
local context = open_context(ARGV[1], '', '', '', KEYS[2], '', '')
if redis.call('HSETNX', KEYS[1], 'cut', ARGV[3]) == 0 then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
emit(context, ARGV[2], 'task.runaway', cjson.encode({ { reason = ARGV[3] } }))
return 1
