-- Reads the heads of tasks' bodies: what stands before the input, which may be long.
-- KEYS[1] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1...] per task: one task
--   id: text, the task's id
-- RETURNS per task the head, JSON without its last brace, or '' where there is no body
-- include: body-layout
local heads = {}
for position, body in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, 1))) do
  local length = body and string.find(body, BODY_INPUT, 1, true)
  heads[position] = length and string.sub(body, 1, length - 1) or ''
end
return heads
