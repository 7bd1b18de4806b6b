-- The beginning of an attempt. Between its claim and what its daemon says, its task is `scheduled` to people (see `isAssigned` in the codec
-- of states), and `running` to scripts: it has a lease, and its place everywhere.

-- Leaves an attempt to its daemon.
local function assign_attempt(task) task.status, task.isAssigned, task.startedAt = 'running', true, nil end

-- Begins the attempt of a scheduled task, or of one that was left to its daemon. Returns the event.
local function begin_attempt(context, task)
  task.status, task.isAssigned, task.startedAt = 'scheduled', nil, context.now
  return enter(context, task, 'running')
end
