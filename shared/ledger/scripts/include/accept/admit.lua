-- Accepts a task: it ends at once, waits for its time, its lanes or its caps, or is granted.

local initialize_task, refuse_waiting, admit, admit_ended, outcome_of_full_line
do
  -- Completes the first state of a task with its time and counts. Returns whether it is due.
  function initialize_task(context, task)
    task.createdAt, task.ticket, task.token, task.spent, task.attempt = context.now, 0, 0, 0, 0
    local is_due = not task.notBefore or task.notBefore <= context.now
    if is_due then task.notBefore = nil end
    return is_due
  end

  -- The refusal of a task that would have to wait when its tenant's limit on waiting tasks is reached, or nil. `freed`: how many
  -- waiting tasks it ends itself.
  function refuse_waiting(context, freed)
    if not context.waiting then return nil end
    local waiting = count(context, 'pending/') - freed
    if waiting < context.waiting then return nil end
    -- What a person has to release fills no line for others.
    waiting = waiting - count(context, 'hold=repeats:')
    if waiting < context.waiting then return nil end
    return { 'waiting', waiting }
  end

  -- Whether a new task is as it began, so that its state needs no tail. `lanes`: the shared lanes that it began with.
  local function is_ordinary(task, lanes)
    return not (task.collect or task.inputs or task.leftOut) and task.sharedLanes == lanes
  end

  -- Accepts an initialized task: it waits for its time, its lane or its caps, or it may run now. Returns its answer.
  function admit(context, intake, id, keys, task)
    enter(context, task, 'pending')
    if task.deadline then append(intake.deadline_times, task.deadline, shard_member(context, id)) end
    if task.sla then append(intake.sla_times, task.sla, shard_member(context, id)) end
    if task.notBefore then
      gates.wait_at(context, id, task, 'time')
      save_task(context, id, task)
      return { 'accepted', 'pending', 'time', 0 }
    end
    local lanes = task.sharedLanes
    if not gates.enter(context, keys, id, task) then
      if is_ordinary(task) and task.gate == 'lane' and not task.order then
        -- At once: the next task of the call reads the line. Whoever grants it looks for no shared lanes.
        redis.call('HSET', context.states, id, waiting_state(context.stamp, task.class))
      else
        save_task(context, id, task)
      end
      return { 'accepted', 'pending', task.gate, gates.ahead_of(context, keys, id, task) }
    end
    enter(context, task, 'queued')
    task.granted, task.queuedAt, task.ticket = true, context.now, 1
    if is_ordinary(task, lanes) then redis.call('HSET', context.states, id, queued_state(context.stamp, task.class)) else save_task(context, id, task) end
    return short.add_granted(context, intake, id, task.class, ticket_text(context, id, task))
  end

  -- Accepts a task that ends at once: its outcome says why. Returns its answer.
  function admit_ended(context, intake, id, task, status)
    enter(context, task, 'pending')
    local event = enter(context, task, status, task.outcome.reason)
    task.completedAt, task.notBefore = context.now, nil
    save_task(context, id, task)
    redis.call('ZADD', context.index, '0', 'status=' .. status .. '/' .. id, '0', end_member(task, status, id))
    notify_subscribers(context, intake.keys.ended, id, task)
    add_finished(intake, event, id)
    return { 'accepted', status, '', 0, cjson.encode(task.outcome) }
  end

  -- The outcome of a message that comes to a line of `waiting` tasks in which no more may wait, or nil.
  function outcome_of_full_line(context, waiting)
    if waiting < context.maxInLine then return nil end
    return { kind = 'dropped', reason = waiting .. ' messages wait in this lane already' }
  end
end
