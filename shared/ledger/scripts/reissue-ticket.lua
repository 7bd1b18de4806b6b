-- Sees to it that a task which holds a grant stands at `slot`: one whose ticket was taken by a process that is gone gets another.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[4] jobs: zset, the shard's tickets with a job in BullMQ that no worker has drawn, by queue
-- ARGV[1] id: text, the task's id
-- ARGV[2] ticket: int, number of the ticket that may be missing
-- ARGV[3] tenant: text, its id
-- RETURNS {'stands', state}: its ticket is ready, and is to have a job | {'reissued', state}: the same, under a new ticket | {'needless'}
-- include: body-layout
-- include: states
-- include: queues
-- include: ready
local context = { tenant = ARGV[3], ready = KEYS[3] }
local task = load_state(KEYS[1], KEYS[2], ARGV[1])
if not task or task.completedAt then return { 'needless' } end
if task.status == 'running' or not task.granted or task.notBefore or task.ticket ~= tonumber(ARGV[2]) then return { 'needless' } end
local is_ready = find_ready(context, ARGV[1], task) ~= nil
if not is_ready then
  task.ticket = task.ticket + 1
  redis.call('HSET', KEYS[1], ARGV[1], write_state(task))
  redis.call('ZADD', KEYS[3], 0, ticket_text(context, ARGV[1], task))
end
redis.call('ZADD', KEYS[4], QUEUE_NUMBERS[task.queue] or 0, ARGV[3] .. '/' .. ARGV[1])
return { is_ready and 'stands' or 'reissued', write_state(task) }
