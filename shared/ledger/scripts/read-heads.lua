-- Reads what tasks are, without what their senders wrote, which may be long.
-- KEYS[1] bodies: the tenant's tasks' bodies
-- ARGV[1] end: the text before which a body's head ends
-- ARGV[2...] per task: its id
-- RETURNS per task the beginning of its body, or an empty text where there is none
local heads = {}
for position, body in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, 2))) do
  local length = body and string.find(body, ARGV[1], 1, true)
  heads[position] = length and string.sub(body, 1, length - 1) or ''
end
return heads
