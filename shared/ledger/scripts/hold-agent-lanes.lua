-- Lets running tasks that were accepted before the first figure of their agent hold the agent's lane, also above its limit.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1] options: JSON, agentLanes
-- ARGV[2...] ids: text, of tasks that may run
-- RETURNS how many hold it that did not
-- include: body-layout
-- include: states
-- include: context
-- include: window
-- include: turns
-- include: dispatch
-- include: grants
-- include: shared-lanes
local context = open_context(ARGV[1], KEYS[1], KEYS[2], '', '', '', KEYS[3])
local held = 0
for _, id in ipairs({ unpack(ARGV, 2) }) do
  local task = load_task(context, id)
  local missing = task and task.status == 'running' and missing_agent_lane(context, task)
  if missing then
    task.sharedLanes = task.sharedLanes or {}
    task.sharedLanes[#task.sharedLanes + 1] = missing
    redis.call('ZADD', context.live, 0, holds_member(missing, id))
    save_task(context, id, task)
    held = held + 1
  end
end
return held
