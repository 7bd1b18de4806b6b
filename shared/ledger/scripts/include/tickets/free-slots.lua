-- Takes ready tickets of one queue for slots that are free now, by turns, so that they need not go through BullMQ. Only those of levels that
-- have no better or equal ticket in the window: such a ticket goes first, and BullMQ has it. Returns 1 when more are ready behind it, else 0.
--   pauses: BullMQ's hash of the queue: with `paused` or `concurrency` in it nothing is taken
--   take: receives the tenant and the text of each ticket
local function take_for_slots(context, queue, count, pauses, take)
  local left, is_outranked = count, 0
  local paused = redis.call('HMGET', pauses, 'paused', 'concurrency')
  local is_paused = paused[1] or paused[2]
  local best = not is_paused and first_ready(context, queue .. '/')[1]
  while best and left > 0 do
    local prefix = string.match(best, '^[^/]+/%d+/')
    local number = level_number(prefix)
    if redis.call('ZCOUNT', context.window, first_level(queue) * FLOWS, (number + 1) * FLOWS - 1) > 0 then
      is_outranked = 1
      break
    end
    left = left - take_turns(context, { prefix = prefix, number = number, queue = queue, take = take }, left)
    best = left > 0 and first_ready(context, queue .. '/')[1]
  end
  if not is_paused and not best and left > 0 then end_turns(context) end
  return is_outranked
end
