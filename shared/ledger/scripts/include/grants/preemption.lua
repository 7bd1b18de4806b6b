-- A critical task that waits at its tenant's caps gets the place of a low one. The mark of a running one, `preempt`, counts for the attempt
-- with its token only.

local function is_preempted(task) return task.preempt and task.preempt.token == task.token end

-- Grants a critical task that waits, ahead of all others, when all of its gates are open now. Its caller saved all others.
local function grant_critical(context, id)
  local task = load_task(context, id)
  local gate = task and not task.completedAt and gates.place_of(context, id, task)
  if not gate or gate ~= CAP and type(gate) ~= 'table' or gates.closed_for(context, id, task) then return end
  gates.take(context, id, task)
  grant(context, id, task)
end
