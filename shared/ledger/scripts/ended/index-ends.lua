-- Adds lookups by end, agent, source and failure for tasks that an older release ended without them.
-- KEYS[1] index: zset, lookups of all the tenant's tasks
-- KEYS[2] states: hash, states of the tenant's tasks by id
-- KEYS[3] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1] status: text, the end under which the tasks were found
-- ARGV[2...] per task: one task
--   id: text, the task's id
-- RETURNS how many lookups it added
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: iterate
local status, next_arg, added = ARGV[1], iterate(ARGV, 2), {}

-- The task's state; an empty table for one that cannot be read, or has another status by now.
local function state_of(id)
  local text = redis.call('HGET', KEYS[2], id)
  local is_read, task = pcall(function() return text and read_state(text, KEYS[3], id) end)
  return is_read and task and task.status == status and task or {}
end

local id = next_arg()
while id do
  append(added, '0', end_member(state_of(id), status, id))
  id = next_arg()
end
return redis.call('ZADD', KEYS[1], unpack(added))
