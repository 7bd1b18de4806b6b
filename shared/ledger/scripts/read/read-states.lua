-- Reads states of a tenant's tasks without what their senders and agents wrote, which may be a thousand times as long.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1...] per task: one task
--   id: text, the task's id
-- RETURNS two per task: its state, or '' where there is none; what it began with, JSON, when the state has no tail, else ''
-- include: body-layout
-- include: states
-- include: iterate
local next_arg, answers = iterate(ARGV, 1), {}
for position, text in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, 1))) do
  local id, state, first = next_arg(), text or '', ''
  -- What cannot be read is left to the caller.
  local is_read, head = pcall(read_head, state)
  if is_read and is_plain_head(head) then
    local body = redis.call('HGET', KEYS[2], id)
    -- Either is missing for a moment while a task is removed.
    if body then first = first_of(body) else state = '' end
  end
  answers[position * 2 - 1], answers[position * 2] = state, first
end
return answers
