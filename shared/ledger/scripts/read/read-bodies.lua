-- Reads bodies of tasks of several tenants.
-- KEYS[1...] per task: the hash with the bodies of its tenant's tasks
-- ARGV[1...] per task: one task
--   id: text, the task's id
-- RETURNS per task its body, or nil
-- include: iterate
local next_key, next_arg = iterate(KEYS, 1), iterate(ARGV, 1)
local bodies, count = {}, 0
local id = next_arg()
while id do
  count = count + 1
  bodies[count] = redis.call('HGET', next_key(), id)
  id = next_arg()
end
return bodies
