-- The tickets of tasks that stand at `slot`: granted, and not started. A level is a queue and a priority.
--   ready: `<queue>/<rank>/<tenant>/<accepted at>/<task>.<number>/<cost>/<attempts>/<agent>/<lane>`, with `@<version>`
--     behind the agent of a run that began with one; with an sla that brings it forward, the
--     time that it counts from stands before the time of its acceptance, 15 digits each; where a key waits for the task, `@<key>` stands
--     behind the attempts
--   jobs: `<tenant>/<task>` of those that have a job in BullMQ which no worker has drawn, by the number of their queue
local RANKS = 10
-- Of a time in a ticket's text.
local TIME_DIGITS = 15
-- What a ticket counts in turns when its task says nothing, ms.
local DEFAULT_COST = 1000

local function level_prefix(queue, priority) return queue .. '/' .. string.format('%02d', RANKS - priority) .. '/' end

-- The number of a queue's best level; the others follow.
local function first_level(queue) return (QUEUE_NUMBERS[queue] or 0) * RANKS end

local function level_number(prefix)
  local queue, rank = string.match(prefix, '^([^/]+)/(%d+)/')
  return first_level(queue) + tonumber(rank), queue
end

-- When a task was accepted, after the time that it counts from where an sla brings it forward.
local function time_rank(accepted_at, ranks_from)
  local accepted = string.format('%015d', accepted_at)
  if not ranks_from or ranks_from >= accepted_at then return accepted end
  return string.format('%015d', ranks_from) .. accepted
end

local function ready_prefix(context, id, task)
  return level_prefix(task.queue, task.priority) .. context.tenant .. '/' .. time_rank(task.createdAt, task.ranksFrom) .. '/' .. id .. '.'
end

-- All that the ticket's job in BullMQ is made of.
local function ticket_text(context, id, task)
  return ready_prefix(context, id, task) .. task.ticket .. '/' .. (task.costMs or DEFAULT_COST) .. '/' .. task.maxAttempts
    .. (task.awaitedBy and '@' .. task.awaitedBy or '') .. '/' .. task.agent .. (task.version and '@' .. task.version or '') .. '/' .. (task.lane or '')
end

-- The first ready tickets whose text begins so.
local function first_ready(context, prefix, count)
  return redis.call('ZRANGEBYLEX', context.ready, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', count or '1')
end

-- A task's ready ticket, or nil. It is found by its beginning: another release may have written the rest.
local function find_ready(context, id, task) return first_ready(context, ready_prefix(context, id, task))[1] end

-- The keys beside that of the jobs: slots that are idle, starts of limited queues, and tickets that somebody waits for.
local function idle_key(jobs) return jobs .. ':idle' end
local function starts_key(jobs) return jobs .. ':starts' end
local function awaited_key(jobs) return jobs .. ':awaited' end

-- The key that waits for the task of a ticket, or nil.
local function awaiting_key(text) return string.match(text, '^[^/]+/%d+/[^/]+/%d+/[^/]+/%d+/%d+@([^/]+)/') end
