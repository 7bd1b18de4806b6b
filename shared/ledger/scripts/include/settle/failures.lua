-- Failures of agents in a row: a hash of agents, each with JSON of its `failures` since the last success, the `code` and `task` of the last
-- one, `at` (ms), and `heldAt` since its tasks are held.

-- Notifies the tenant that an agent's tasks are held from here on.
local function publish_held(context, agent, record)
  local about = { agent = agent, failures = record.failures, code = record.code, taskId = record.task }
  redis.call('XADD', context.events, 'MAXLEN', '~', context.maxEvents, '*', 'event', 'agent.held', 'about', cjson.encode(about))
  local message = context.tenant .. '//agent.held'
  if joined then
    joined.channel, joined.messages[#joined.messages + 1] = context.channel, message
  else
    redis.call('PUBLISH', context.channel, message)
  end
end

-- Counts the end of a task of an agent; `code`: of its failure, or empty for a success. A held agent stays held until a person resumes it.
local function count_end(context, key, agent, ended)
  local text = redis.call('HGET', key, agent)
  local record = text and cjson.decode(text) or { failures = 0 }
  if ended.code == '' then
    if text and not record.heldAt then redis.call('HDEL', key, agent) end
    return
  end
  record.failures, record.code, record.task, record.at = record.failures + 1, ended.code, ended.id, context.now
  local max = context.maxFailures or 0
  local holds = max > 0 and record.failures >= max and not record.heldAt
  if holds then record.heldAt = context.now end
  redis.call('HSET', key, agent, cjson.encode(record))
  if holds then publish_held(context, agent, record) end
end

-- Counts ends of tasks in their order. `ends`: each has the task's `id`, its `agent`, and `code`.
local function count_failures(context, key, ends)
  if #ends == 0 then return end
  local is_known = redis.call('EXISTS', key) == 1
  for _, ended in ipairs(ends) do
    -- Mostly nothing failed, and successes cost nothing.
    if is_known or ended.code ~= '' then
      count_end(context, key, ended.agent, ended)
      is_known = true
    end
  end
end
