-- A critical task that waits at its tenant's caps gets the place of a low one. The mark of a running one, `preempt`, counts for the attempt
-- with its token only.

local function is_preempted(task) return task.preempt and task.preempt.token == task.token end

-- Grants a critical task that waits at the caps, ahead of all others of the backlog, when they have room now. Its caller saved all others.
local function grant_critical(context, id)
  local task = load_task(context, id)
  if not task or task.completedAt or task.gate ~= 'cap' or not has_room(context, task.class) then return end
  grant(context, id, task)
end
