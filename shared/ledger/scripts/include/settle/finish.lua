-- Keeps the end of a task for its subscribers outside of the ledger.
local function notify_subscribers(context, ended, id, task)
  for _, kind in ipairs(task.tell or {}) do
    redis.call('ZADD', ended, '0', kind .. '/' .. context.stamp .. '/' .. shard_member(context, id))
  end
end

-- Moves the task to a terminal state: out of the live lookups, into the index, its lane and caps to the next. Returns the event.
local function finish(context, keys, id, task, status, reason)
  unlist(context, id, task)
  if task.notBefore then redis.call('ZREM', context.due, shard_member(context, id)) end
  if (task.status == 'failed' or task.status == 'timeout') and status ~= 'permanently_failed' then
    enter(context, task, 'queued') -- It waited for its retry.
  end
  local event = enter(context, task, status, reason)
  task.completedAt = context.now
  task.gate, task.notBefore, task.granted, task.cancel, task.steer = nil, nil, nil, nil, nil
  task.preempt, task.preempts, task.hold, task.suspended = nil, nil, nil, nil
  if task.asking then close_question(context, id, task) end
  save_task(context, id, task)
  redis.call('ZADD', context.index, '0', 'status=' .. status .. '/' .. id, '0', end_member(task, status, id))
  if task.deadline then redis.call('ZREM', keys.deadlines, shard_member(context, id)) end
  notify_subscribers(context, keys.ended, id, task)
  gates.leave_all(context, keys, id, task)
  gates.open(context)
  return event
end

-- Ends a task whose deadline passed before it started.
local function expire(context, keys, id, task)
  local reason = 'the deadline passed before the start'
  task.outcome = { kind = 'expired', reason = reason }
  emit(context, id, finish(context, keys, id, task, 'stale', reason))
end

-- Signals the worker of a running task to stop, and ends its lease after the grace. Returns the attempt's lease member.
local function stop_running(context, keys, id, task, stop, grace)
  local member = shard_member(context, id) .. '/' .. task.token
  -- The message makes it quick; the lease renewal makes it sure.
  redis.call('PUBLISH', context.workers, member)
  if task.cancel then return member end
  task.cancel = stop
  save_task(context, id, task)
  local lease = tonumber(redis.call('ZSCORE', keys.leases, member) or context.now)
  redis.call('ZADD', keys.leases, math.min(lease, context.now + grace), member)
  redis.call('HSET', keys.signals, member, cjson.encode({ kind = 'cancel', reason = stop.reason, by = stop.by }))
  emit(context, id, 'task.stopping')
  return member
end
