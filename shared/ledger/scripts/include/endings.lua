-- Keeps the end of a task for those outside of the ledger who have to hear of it.
local function tell_end(book, ended, id, task)
  for _, kind in ipairs(task.tell or {}) do
    redis.call('ZADD', ended, 0, kind .. '/' .. book.stamp .. '/' .. book.tenant .. '/' .. id)
  end
end

-- Moves the task to its one terminal state: out of the live lookups, into the lasting ones, its lane and caps to the next.
local function finish(book, keys, id, task, status, reason)
  unlist(book, id, task)
  if task.notBefore then redis.call('ZREM', keys.due, book.tenant .. '/' .. id) end
  if (task.status == 'failed' or task.status == 'timeout') and status ~= 'permanently_failed' then
    enter(book, task, 'queued') -- It was in line for its retry.
  end
  enter(book, task, status, reason)
  task.completedAt, task.gate, task.notBefore, task.granted, task.cancel, task.steer = book.now, nil, nil, nil, nil, nil
  save_task(book, id, task)
  redis.call('ZADD', book.index, 0, 'status=' .. status .. '/' .. id)
  if task.deadline then redis.call('ZREM', keys.deadlines, book.tenant .. '/' .. id) end
  tell_end(book, keys.ended, id, task)
  leave_lane(book, keys.held, keys.wait, id, task)
  promote_backlog(book)
end

-- Ends a task whose deadline passed before it started.
local function expire(book, keys, id, task)
  local reason = 'the deadline passed before the start'
  task.outcome = { kind = 'expired', reason = reason }
  finish(book, keys, id, task, 'stale', reason)
  emit(book, id, 'task.stale')
end

-- The outcome of a task that was stopped: who takes its place, when somebody does.
local function outcome_of_stop(stop)
  return { kind = stop.by and 'superseded' or 'cancelled', taskId = stop.by, reason = stop.reason }
end

-- Ends the running attempt and takes its lease away.
local function end_attempt(book, keys, id, task, status, failure)
  local member = book.tenant .. '/' .. id .. '/' .. task.token
  redis.call('ZREM', keys.leases, member)
  if task.cancel then redis.call('HDEL', keys.signals, member) end
  redis.call('HSET', keys.attempts, id .. ':' .. task.token, cjson.encode({
    number = task.attempt, worker = task.worker, startedAt = task.startedAt, endedAt = book.now, status = status, error = failure,
  }))
end
