-- Starts attempts under new tokens. Their leases, states and events are written by the caller.

-- Whether the task's deadline has passed. The first deadline of the shard mostly answers for all.
local first_deadline
local function is_late(context, deadlines, id)
  first_deadline = first_deadline or tonumber(redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')[2] or math.huge)
  if first_deadline > context.now then return false end
  return tonumber(redis.call('ZSCORE', deadlines, shard_member(context, id)) or math.huge) <= context.now
end

-- Moves a task into its next attempt, which a daemon has to accept before it begins.
local function start_attempt(context, task, worker)
  if task.status ~= 'queued' then enter(context, task, 'queued') end
  enter(context, task, 'scheduled', worker)
  task.queuedAt = task.queuedAt or context.now
  task.scheduledAt = context.now
  if context.daemon then assign_attempt(task) else begin_attempt(context, task) end
  task.gate, task.notBefore, task.granted, task.worker, task.error = nil, nil, true, worker, nil
  task.daemon = context.daemon
  task.token, task.spent = task.token + 1, task.spent + 1
  task.isolation = task.losses and context.isolation
  task.attempt = (task.earlier or 0) + task.spent
end

-- What the event of a start says besides, JSON, or nil of a first attempt.
local function start_fact(attempt) return attempt > 1 and '{"attempt":' .. attempt .. '}' or nil end
