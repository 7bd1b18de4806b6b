-- Applies a tenant's limits after a change: tasks that wait for its lanes and caps are granted while these have room, and running tasks
-- hold the lane of an agent that has its first figure, also above its limit.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[8] jobs: zset, the shard's tickets with a job in BullMQ that no worker has drawn, by queue
-- KEYS[9] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[10] weights: hash, weights of the shard's tenants in their turns
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps
-- ARGV[2...] per task: one that may run and lack the lane of its agent
--   id: text, the task's id
-- RETURNS {tickets, tasks that waited and wait no more for a lane or a cap, 1 when there may be more of them, else 0};
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: ready
-- include: turns
-- include: tickets
-- include: grants
-- include: lane-limits
-- include: gates
-- include: iterate
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])

local next_id = iterate(ARGV, 2)
local id = next_id()
while id do
  local task = load_task(context, id)
  local missing = task and task.status == 'running' and gates.missing_lane(context, task)
  if missing then
    gates.add_lane(context, task)
    redis.call('ZADD', context.live, '0', holds_member(missing, id))
    save_task(context, id, task)
  end
  id = next_id()
end

for _, lane in ipairs(gates.lanes_with_line(context)) do gates.open_lane(context, lane) end
local promoted, has_more = gates.open(context)
return { publish_granted(context), promoted, has_more and 1 or 0 }
