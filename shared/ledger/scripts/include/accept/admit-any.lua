-- Admits a task that has to wait, or might have to, meets others, or ends at once. `held_by`: why its repeated input holds it, or nil. A call makes
-- the functions for that with its first such task: to make them costs as much as to accept a task the short path.
local admit_any
function admit_any(...)
-- include: gates
-- include: lanes
-- include: finish
-- include: open-cancels
-- include: admit
-- include: gathering
-- include: modes
-- include: meet-others

  function admit_any(context, intake, item, held_by)
    intake.gathers = false
    write_admitted(context, intake)
    local id, task = item.id, cjson.decode(first_of(item.body))
    local is_due = initialize_task(context, task)
    if item.rules and item.rules.arrival then task.collect = item.rules.collect end
    if held_by then return repetition.admit_held(context, intake, id, task, held_by) end
    if item.path == 'skip' then return admit_ended(context, intake, id, task, 'skipped') end
    local is_input = item.rules and item.rules.target
    local has_turn = not is_input and (not task.lane or lane_is_free(context, task, item.held, item.wait))
    if item.rules and is_due and not has_turn then return meet_others(context, intake, item, task) end
    if task.mode and is_due and not has_turn then
      task.outcome = outcome_of_full_line(context, redis.call('ZCARD', item.wait))
      if task.outcome then return admit_ended(context, intake, id, task, 'cancelled') end
    end
    local is_next = is_due and has_turn
    local gate = is_next and gates.closed_for(context, id, task, nil, true)
    local keys = { held = item.held, wait = item.wait, is_free = nil, shared_is_free = is_next and (not gate or gate == CAP) }
    if task.lane then keys.is_free = has_turn end
    local refusal = (gate or not is_next) and refuse_waiting(context, 0)
    return refusal or admit(context, intake, id, keys, task)
  end

  return admit_any(...)
end
