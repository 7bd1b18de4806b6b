-- Tells the worker of a running task to stop, and ends its lease after the grace. Returns the attempt's lease member.
local function stop_running(book, keys, id, task, stop, grace)
  local member = book.tenant .. '/' .. id .. '/' .. task.token
  -- The message makes it quick; the lease renewal makes it sure.
  redis.call('PUBLISH', book.workers, member)
  if task.cancel then return member end
  task.cancel = stop
  save_task(book, id, task)
  local lease = tonumber(redis.call('ZSCORE', keys.leases, member) or book.now)
  redis.call('ZADD', keys.leases, math.min(lease, book.now + grace), member)
  redis.call('HSET', keys.signals, member, cjson.encode({ kind = 'cancel', reason = stop.reason, by = stop.by }))
  emit(book, id, 'task.stopping')
  return member
end
