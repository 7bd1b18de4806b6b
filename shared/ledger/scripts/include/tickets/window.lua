-- A granted task gets its ticket late: few unclaimed tickets of each queue are in BullMQ, its window, so that a better one still comes
-- first. The other tickets are ready and wait for room. A level is a queue and a priority.
--   window: `<tenant>/<task>` -> level and tenant, see `window_score`: it counts one level, or one tenant there
--   ready: tickets as text: `<queue>/<rank>/<tenant>/<accepted at>/<task>.<number>/<cost>/<attempts>/<agent>/<lane>`; with an sla that
--     brings it forward, the time that it counts from stands before the time of its acceptance, 15 digits each
local RANKS, FLOWS = 10, 1e9
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

local flows = {}

local function window_score(number, tenant)
  local flow = flows[tenant]
  if not flow then
    flow = 0
    for position = 1, #tenant do flow = (flow * 33 + string.byte(tenant, position)) % FLOWS end
    flows[tenant] = flow
  end
  return number * FLOWS + flow
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
  return ready_prefix(context, id, task) .. task.ticket .. '/' .. (task.costMs or DEFAULT_COST) .. '/' .. task.maxAttempts .. '/'
    .. task.agent .. '/' .. (task.lane or '')
end

-- The first ready tickets whose text begins so.
local function first_ready(context, prefix, count)
  return redis.call('ZRANGEBYLEX', context.ready, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', count or '1')
end

-- Takes a task's ticket out of the ready ones. It is found by its beginning: another release may have written the rest.
local function drop_ready(context, id, task)
  local found = first_ready(context, ready_prefix(context, id, task))[1]
  if found then redis.call('ZREM', context.ready, found) end
end

local function window_size(context, queue) return context.windows[queue] or context.lookAhead end

-- Room in the window for tickets of this level: worse ones do not count.
local function room_of(context, number, queue)
  return window_size(context, queue) - redis.call('ZCOUNT', context.window, first_level(queue) * FLOWS, (number + 1) * FLOWS - 1)
end
