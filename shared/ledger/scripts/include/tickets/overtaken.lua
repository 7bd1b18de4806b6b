-- The tickets of a call that have to wait for better ones of their queue, which became ready since they went out: at most as many as are
-- better and may be taken by slots. Whoever polled such a ticket puts it back, and takes what is ready.
--   pauses: BullMQ's hash of the queue: with `paused` or `concurrency` in it slots take nothing
local function find_overtaken(context, ids, pauses)
  local overtaken, queue = {}, context.queue
  local best = queue and first_ready(context, queue .. '/')[1]
  if not best then return overtaken end
  local members, worse, better = {}, {}, 0
  for position, id in ipairs(ids) do members[position] = shard_member(context, id) end
  local best_number = level_number(best)
  for position, score in ipairs(redis.call('ZMSCORE', context.window, unpack(members))) do
    local number = score and math.floor(score / FLOWS)
    if number and number > best_number then append(worse, ids[position], number) elseif number then better = better + 1 end
  end
  if #worse == 0 then return overtaken end
  -- A ticket that goes first is in BullMQ, for another slot.
  if redis.call('ZCOUNT', context.window, first_level(queue) * FLOWS, (best_number + 1) * FLOWS - 1) > better then return overtaken end
  local paused = redis.call('HMGET', pauses, 'paused', 'concurrency')
  if paused[1] or paused[2] then return overtaken end
  local shard = context.shard
  for position = 1, #worse, 2 do
    local before = redis.call('ZLEXCOUNT', context.ready, '[' .. queue .. '/', '(' .. level_prefix(queue, RANKS - worse[position + 1] % RANKS))
    if before > (shard.overtaken or 0) then
      overtaken[worse[position]], shard.overtaken = true, (shard.overtaken or 0) + 1
    end
  end
  return overtaken
end
