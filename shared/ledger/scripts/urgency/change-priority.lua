-- Changes the priority, and with it perhaps the queue, of a task that does not run. A granted task gets a new ticket; a task
-- that is low now returns to the backlog when the cap on low ones is full, and others are granted in its place.
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
-- ARGV[2] id: text, the task's id
-- ARGV[3] priority: int, 1 to 10
-- ARGV[4] queue: text, the queue that it belongs to now
-- ARGV[5] class: text, its class for caps
-- ARGV[6] why: text, what escalates it, or empty for a change by request
-- RETURNS {tickets, 'changed', state} | {tickets, 'running'} | {tickets, 'gone'};
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
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local id = ARGV[2]
local task = load_task(context, id)
if not task or task.completedAt then return { {}, 'gone' } end
if task.status == 'running' then return { {}, 'running' } end

local why, former = ARGV[6], {}
for name, value in pairs(task) do former[name] = value end
task.priority, task.queue, task.class = tonumber(ARGV[3]), ARGV[4], ARGV[5]
gates.move(context, id, former, task)
if task.granted then
  task.ticket = task.ticket + 1
  give_ticket(context, id, task)
end
add_note(context, task, 'priority ' .. former.priority .. ' to ' .. ARGV[3] .. (why == '' and '' or ': ' .. why))
save_task(context, id, task)
local facts = cjson.encode({ { priority = task.priority, queue = task.queue, reason = why ~= '' and why or nil } })
emit(context, id, 'task.reprioritized', facts)
if why ~= '' then emit(context, id, 'task.escalated', facts) end
gates.open(context)
return { publish_granted(context), 'changed', write_state(load_task(context, id)) }
