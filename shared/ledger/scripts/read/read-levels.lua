-- Reads what waits in a shard: how many tickets each level has, how the tenants of one level take turns, and what is not in BullMQ yet.
-- KEYS[1] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[2] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[3] weights: hash, weights of the shard's tenants in their turns
-- KEYS[4] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- ARGV[1] queue: text, of the level whose turns are read
-- ARGV[2] priority: int, 1 to 10, of that level
-- ARGV[3] max: int, tenants of that level that are read
-- RETURNS {levels, lines, entries, oldest}
--   levels: queue, priority and ready tickets of each level that has any
--   lines: tenant, virtual time of its next ticket, ready tickets, cost of the first in ms, and weight, by turn
--   entries, oldest: entries of the outbox, and since when the oldest is there, ms since 1970; '0' for none
-- include: queues
-- include: ready
-- include: turns
local context = { ready = KEYS[1], turns = KEYS[2], weights = KEYS[3] }

local function ready_below(prefix)
  return redis.call('ZLEXCOUNT', context.ready, '[' .. prefix, '(' .. prefix .. '\255')
end

local levels = {}
for queue in pairs(QUEUE_NUMBERS) do
  if ready_below(queue .. '/') > 0 then
    for priority = RANKS, 1, -1 do
      local waiting = ready_below(level_prefix(queue, priority))
      if waiting > 0 then
        for _, value in ipairs({ queue, priority, waiting }) do levels[#levels + 1] = value end
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

local oldest = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
return { levels, lines, redis.call('ZCARD', KEYS[4]), oldest[2] or '0' }
