-- Reads the heads of tasks' bodies: what stands before the input, which may be long, and how the input begins.
-- KEYS[1] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1] input: int, bytes of the input that come with each head
-- ARGV[2...] per task: one task
--   id: text, the task's id
-- RETURNS two per task: the head, JSON without its last brace, or '' where there is no body; the beginning of the input, JSON that may be cut
-- include: body-layout
local heads, bytes = {}, tonumber(ARGV[1])
for _, body in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, 2))) do
  local from, to = string.find(body or '', BODY_INPUT, 1, true)
  heads[#heads + 1] = from and string.sub(body, 1, from - 1) or ''
  heads[#heads + 1] = to and bytes > 0 and string.sub(body, to + 1, to + bytes) or ''
end
return heads
