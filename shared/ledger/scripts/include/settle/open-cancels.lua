-- Keeps the cancel of a task open when it has sub-tasks, so that a process that dies before these are cancelled too leaves them to another.
-- The task was stopped: none is accepted any more, so that the answer holds. `open`: the shard's open cancels; `reason`: why the task was
-- cancelled that they all descend from. Returns its entry, or nil.
local function keep_cancel_open(context, open, id, reason)
  local children = 'parent=' .. escape_value(id) .. '/'
  if #redis.call('ZRANGEBYLEX', context.index, '(' .. children, '(' .. children .. '\255', 'LIMIT', 0, 1) == 0 then return nil end
  -- `open-cancels.ts` reads it.
  local entry = shard_member(context, id) .. '/' .. reason
  -- A server without memory lets a write pass after a removal.
  redis.call('ZREM', open, entry)
  redis.call('ZADD', open, context.stamp, entry)
  return entry
end
