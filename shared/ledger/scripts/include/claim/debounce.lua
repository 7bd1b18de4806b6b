-- Messages that are read for the newest of a turn.
local MAX_COLLECTED = 100

-- When a turn of collected messages may begin: once the newest is old enough, or its lane has been free long enough.
local function due_after_debounce(context, keys, id, task)
  local newest = task.createdAt
  local line = redis.call('ZRANGE', keys.wait, 0, MAX_COLLECTED - 1)
  for _, text in ipairs(#line > 0 and redis.call('HMGET', context.states, unpack(line)) or {}) do
    local other = text and read_known(text)
    if not other or not other.collect or other.agent ~= task.agent or not same_sender(other, task) then break end
    newest = math.max(newest, other.createdAt)
  end
  local free_since = tonumber(redis.call('ZSCORE', keys.held, id) or context.now)
  return math.min(newest + task.collect.debounceMs, free_since + task.collect.longestWaitMs)
end
