-- Admits a message that meets a taken lane, or that is input for a running task: what it does to others, and what becomes of it.

local meet_others
do
  -- The part of a message in what it does: its item, and the keys of the attempts and tasks that it ends.
  local function open_meeting(context, intake, item)
    local keys = intake.keys
    return {
      context = context, intake = intake, item = item, rules = item.rules, superseded = { kind = 'superseded', taskId = item.id, reason = item.rules.reason },
      keys = {
        held = item.held, wait = item.wait, leases = keys.leases, deadlines = keys.deadlines, signals = keys.signals, ended = keys.ended,
      },
    }
  end

  -- Lets the cancel of another task reach its sub-tasks. The message itself may be one of them, to which its task hands over: then they go on.
  local function cancel_below(meeting, other, reason)
    local context, open = meeting.context, meeting.intake.open
    if parents.lead_to(context, meeting.item.parent, other) then return end
    open[#open + 1] = keep_cancel_open(context, meeting.intake.keys.open, other, reason)
  end

  -- Ends another task that does not run.
  local function finish_other(meeting, other, state, outcome)
    state.outcome = outcome
    add_finished(meeting.intake, finish(meeting.context, meeting.keys, other, state, 'cancelled', outcome.reason), other)
    cancel_below(meeting, other, outcome.reason)
  end

  -- Input for a task without a lane gives it a lane, which it holds.
  local function give_lane(meeting, target, state, task)
    if state.lane then return end
    state.lane, state.laneLimit = task.lane, task.laneLimit
    redis.call('ZADD', meeting.keys.held, meeting.context.now, target)
    save_task(meeting.context, target, state)
  end

  local function replace_line(meeting, plan, task)
    -- All at once, so that none of them is granted by the end of another.
    if #plan.replaced > 0 then redis.call('ZREM', meeting.keys.wait, unpack(plan.replaced)) end
    for position, other in ipairs(plan.replaced) do
      local state = read_state(plan.states[position], meeting.context.bodies, other)
      if meeting.rules.carries and plan.stopped then modes.carry_input(task, other, state) end
      finish_other(meeting, other, state, meeting.superseded)
    end
  end

  local function drop_oldest(meeting, plan, task)
    if not plan.dropped then return end
    local context, is_summarized = meeting.context, meeting.rules.overflow == 'summarize'
    local oldest = load_task(context, plan.dropped)
    if is_summarized and not plan.following then modes.note_left_out(context, task, plan.dropped, oldest) end
    if is_summarized and plan.following then
      local following = load_task(context, plan.following)
      modes.note_left_out(context, following, plan.dropped, oldest)
      save_task(context, plan.following, following)
    end
    finish_other(meeting, plan.dropped, oldest, { kind = 'dropped', reason = plan.reason })
  end

  -- Stops the holder: at once, or when its worker has answered. Returns the message's answer.
  local function stop_holder(meeting, plan, answer)
    local context, superseded = meeting.context, meeting.superseded
    local holder = load_task(context, plan.stopped)
    if holder.status ~= 'running' then
      finish_other(meeting, plan.stopped, holder, superseded)
      local task = load_task(context, meeting.item.id)
      return { 'accepted', task.status, task.gate or '', task.granted and 0 or answer[4] }
    end
    stop_running(context, meeting.keys, plan.stopped, holder, { at = context.now, reason = superseded.reason, by = meeting.item.id }, meeting.rules.grace)
    cancel_below(meeting, plan.stopped, superseded.reason)
    return answer
  end

  -- Why a task cannot take the message as input, as the message's answer, or nil.
  local function refuse_input(target)
    if not target or target.status ~= 'running' or target.cancel then return { 'refused', 'not-running' } end
    if not target.takesInput then return { 'refused', 'takes-no-input' } end
    return nil
  end

  -- Offers the message to a running task. Its worker is signalled.
  local function offer_to(context, target, state, task)
    task.steer = target
    redis.call('PUBLISH', context.workers, 'input ' .. shard_member(context, target) .. '/' .. state.token)
  end

  -- Returns the message's answer.
  function meet_others(context, intake, item, task)
    write_happened(context, intake)
    local meeting, rules = open_meeting(context, intake, item), item.rules
    local keys = meeting.keys
    local plan = modes.plan_for(context, modes.read_lane(context, keys.held, keys.wait), task, rules)
    if plan.outcome then
      task.outcome, task.collect = plan.outcome, nil
      return admit_ended(context, intake, item.id, task, 'cancelled')
    end
    local offered = plan.offered and load_task(context, plan.offered)
    local refusal = refuse_waiting(context, plan.freed) or (rules.target and refuse_input(offered))
    if refusal then return refusal end
    if rules.target then give_lane(meeting, rules.target, offered, task) end
    if offered and (rules.target or modes.takes_input(offered, task)) then offer_to(context, plan.offered, offered, task) end
    if plan.stopped and rules.carries then modes.carry_input(task, plan.stopped, load_task(context, plan.stopped)) end
    replace_line(meeting, plan, task)
    drop_oldest(meeting, plan, task)
    local answer = admit(context, intake, item.id, keys, task)
    return plan.stopped and stop_holder(meeting, plan, answer) or answer
  end
end
