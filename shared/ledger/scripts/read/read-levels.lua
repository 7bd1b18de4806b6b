-- Reads what waits in a shard: how many tickets each level has, how the tenants of one level take turns, and what is not in BullMQ yet.
-- KEYS[1] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[2] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[3] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[4] weights: hash, weights of the shard's tenants in their turns
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- ARGV[1] queue: text, of the level whose turns are read
-- ARGV[2] priority: int, 1 to 10, of that level
-- ARGV[3] max: int, tenants of that level that are read
-- RETURNS {levels, lines, entries, oldest}
--   levels: queue, priority, unclaimed tickets and ready tickets of each level that has any
--   lines: tenant, virtual time of its next ticket, ready tickets, cost of the first in ms, and weight, by turn
--   entries, oldest: entries of the outbox, and since when the oldest is there, ms since 1970; '0' for none
-- include: queues
-- include: window
-- include: turns
local context = { ready = KEYS[1], window = KEYS[2], turns = KEYS[3], weights = KEYS[4] }

local function ready_below(prefix)
  return redis.call('ZLEXCOUNT', context.ready, '[' .. prefix, '(' .. prefix .. '\255')
end

local function unclaimed_of(number, last)
  return redis.call('ZCOUNT', context.window, number * FLOWS, (last + 1) * FLOWS - 1)
end

local levels = {}
for queue in pairs(QUEUE_NUMBERS) do
  local first = first_level(queue)
  if unclaimed_of(first, first + RANKS - 1) > 0 or ready_below(queue .. '/') > 0 then
    for priority = RANKS, 1, -1 do
      local prefix = level_prefix(queue, priority)
      local number = level_number(prefix)
      local unclaimed, waiting = unclaimed_of(number, number), ready_below(prefix)
      if unclaimed + waiting > 0 then
        for _, value in ipairs({ queue, priority, unclaimed, waiting }) do levels[#levels + 1] = value end
      end
    end
  end
end

local lines = {}
local own = level_prefix(ARGV[1], tonumber(ARGV[2]))
local zero = level_number(own) * TIMES
local found = redis.call('ZRANGEBYSCORE', context.turns, zero, zero + TIMES - 1, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
for at = 1, #found, 2 do
  local tenant = string.sub(found[at], #own + 1)
  local first = first_ready(context, found[at] .. '/')[1]
  if first then
    local cost = string.match(first, '^[^/]+/%d+/[^/]+/%d+/[^/]+/(%d+)/') or DEFAULT_COST
    local start = string.format('%d', tonumber(found[at + 1]) - zero)
    local weight = redis.call('HGET', context.weights, tenant) or '1'
    for _, value in ipairs({ tenant, start, ready_below(found[at] .. '/'), cost, weight }) do lines[#lines + 1] = value end
  end
end

local oldest = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')
return { levels, lines, redis.call('ZCARD', KEYS[5]), oldest[2] or '0' }
