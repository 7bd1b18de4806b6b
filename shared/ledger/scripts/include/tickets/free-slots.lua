-- Takes ready tickets for slots that are free now, by turns, so that they need not go through BullMQ.

-- Tickets of a level that are looked through for the oldest.
local MAX_OUT = 50

-- The rank of a task by age: when it was accepted, as an id says it, and its id, which puts tasks of the same ms in order.
local function age_rank(time, id) return time .. id end

-- That of the oldest ticket of a level that is out.
local function oldest_out(context, number)
  local oldest = '~'
  local found = redis.call('ZRANGEBYSCORE', context.window, number * FLOWS, (number + 1) * FLOWS - 1, 'LIMIT', 0, MAX_OUT)
  for _, member in ipairs(found) do
    local id = string.match(member, '[^/]+$')
    local rank = age_rank(string.sub(id, 1, 10), id)
    if rank < oldest then oldest = rank end
  end
  return oldest
end

-- Slots for which tickets of a call may be: those that it asks for, and idle ones of the same worker, which get their tickets from BullMQ.
-- Those that are out need some of them, by queue.
local function open_budget(count, idle) return { slots = count + (idle or 0), out = {} } end

local function left_of(budget)
  local left = budget.slots
  for _, out in pairs(budget.out) do left = left - out end
  return left
end

local function first_out(budget, queues)
  for _, queue in ipairs(queues) do
    if budget.out[queue] then return queue end
  end
end

-- Whether slots are left when idle ones get the tickets of a queue that are out at its first levels, up to this one.
local function covers_out(context, budget, queue, number)
  local first = first_level(queue)
  budget.out[queue] = nil
  local left = left_of(budget)
  if left <= 1 then return false end
  local out = redis.call('ZCOUNT', context.window, first * FLOWS, (number + 1) * FLOWS - 1)
  if out >= left then return false end
  budget.out[queue] = out
  return true
end

-- The ticket of a queue that comes next, as slots compare it, or nil. One that is out goes before those that are ready at its level, unless
-- idle slots get it from BullMQ. `pauses`: BullMQ's hash of the queue: with `paused` or `concurrency` in it slots take nothing.
local function head_of(context, queue, pauses, budget)
  local paused = redis.call('HMGET', pauses, 'paused', 'concurrency')
  if paused[1] or paused[2] then return nil end
  local first, text = first_level(queue), first_ready(context, queue .. '/')[1]
  local out = redis.call(
    'ZRANGEBYSCORE', context.window, first * FLOWS, (first + RANKS) * FLOWS - 1, 'WITHSCORES', 'LIMIT', '0', '1')[2]
  local number, out_number = text and level_number(text), out and math.floor(out / FLOWS)
  local is_first = out_number and (not number or out_number <= number)
  if is_first and (queue == 'critical' or not covers_out(context, budget, queue, number or first + RANKS - 1)) then
    return { queue = queue, number = out_number, is_out = true, has_ready = text ~= nil }
  end
  if not text then return nil end
  local accepted, id = string.match(text, '^[^/]+/%d+/[^/]+/(%d+)/([^/.]+)')
  return { queue = queue, number = number, accepted = tonumber(string.sub(accepted, -TIME_DIGITS)), id = id }
end

local function age_rank_of(context, head)
  head.age = head.age or (head.is_out and oldest_out(context, head.number) or age_rank(id_time(head.accepted), head.id))
  return head.age
end

local function band_of(context, pool, head)
  local priority = RANKS - head.number % RANKS
  if priority >= pool.highFrom then return 'high' end
  if priority > pool.lowTo or head.accepted and context.now - head.accepted >= pool.lowAgeMs then return 'normal' end
  return 'low'
end

-- Whether one head goes before another: the band that is furthest below its share, then the queue that is furthest below its weight, then
-- priority and age; as `chooseNext` decides for tickets in BullMQ.
local function goes_before(context, one, other)
  if one.share ~= other.share then return one.share < other.share end
  if one.band ~= other.band then return one.band < other.band end
  if one.weight ~= other.weight then return one.weight < other.weight end
  local rank, other_rank = one.number % RANKS, other.number % RANKS
  if rank ~= other_rank then return rank < other_rank end
  return age_rank_of(context, one) < age_rank_of(context, other)
end

-- The head that gets the next slot of a pool, or nil. Critical tickets go first, and slots that are kept for them take no others.
local function choose_head(context, pool, heads)
  if heads.critical then return heads.critical end
  if pool.kind == 'critical' then return nil end
  local has_others, best = false, nil
  for queue, head in pairs(heads) do
    head.band = band_of(context, pool, head)
    head.share = (pool.bands[head.band].running + 1) / pool.bands[head.band].share
    head.weight = pool.queues[queue].running / pool.queues[queue].weight
    has_others = has_others or head.band ~= 'low'
  end
  local may_run_low = not has_others and pool.fetching == 0 or pool.bands.low.running < pool.maxLow
  for _, head in pairs(heads) do
    if (head.band ~= 'low' or may_run_low) and (not best or goes_before(context, head, best)) then best = head end
  end
  return best
end

-- Takes tickets of the level of a head. Returns how many.
local function take_head(context, head, budget, count, take)
  local prefix = level_prefix(head.queue, RANKS - head.number % RANKS)
  local level = { prefix = prefix, number = head.number, queue = head.queue, take = take }
  local taken = take_turns(context, level, math.min(count, left_of(budget)))
  budget.slots = budget.slots - taken
  return taken
end

-- Takes tickets for `count` slots of a pool of several queues. Returns the queue whose next ticket BullMQ has, when that goes first, or nil.
--   queues: the queues' names; pauses: of each, see `head_of`
--   take: receives the tenant and the text of each ticket
local function take_for_pool(context, pool, queues, pauses, count, take)
  local heads, left, budget = {}, count, open_budget(count, pool.idle)
  for position, queue in ipairs(queues) do heads[queue] = head_of(context, queue, pauses[position], budget) end
  while left > 0 do
    if left_of(budget) <= 0 then return first_out(budget, queues) end
    local head = choose_head(context, pool, heads)
    if not head then
      if next(heads) == nil then end_turns(context) end
      return nil
    end
    if head.is_out or head.queue == 'critical' and pool.kind ~= 'critical' then return head.queue end
    local is_only = next(heads) == head.queue and next(heads, head.queue) == nil
    local taken = take_head(context, head, budget, is_only and left or 1, take)
    left = left - taken
    pool.queues[head.queue].running = pool.queues[head.queue].running + taken
    if head.band then pool.bands[head.band].running = pool.bands[head.band].running + taken end
    if left > 0 then
      for position, queue in ipairs(queues) do
        if queue == head.queue then heads[queue] = taken > 0 and head_of(context, queue, pauses[position], budget) or nil end
      end
    end
  end
  return nil
end

-- Takes tickets of one queue for `count` slots. Returns the queue when more are ready behind a ticket that BullMQ has, or nil.
local function take_for_slots(context, queue, pauses, count, take)
  local left, budget = count, open_budget(count)
  local head = head_of(context, queue, pauses, budget)
  while head and left > 0 do
    if head.is_out then return head.has_ready and queue or nil end
    left = left - take_head(context, head, budget, left, take)
    head = left > 0 and head_of(context, queue, pauses, budget)
  end
  if not head and left > 0 and not first_ready(context, queue .. '/')[1] then end_turns(context) end
  return nil
end
