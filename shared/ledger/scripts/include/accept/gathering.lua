-- Messages that wait for others and become one turn with them.

local gathering = {}
do
  function gathering.append(lane, id, text)
    lane.line[#lane.line + 1] = id
    lane.states[#lane.states + 1] = text
  end

  -- Whether a message that has not begun becomes one turn with this one.
  local function is_of_turn(state, task)
    return state.collect and state.token == 0 and state.agent == task.agent and same_sender(state, task)
  end

  -- Messages that gather over their cap: of the sender's own messages, the oldest goes, or the new one.
  function gathering.plan_overflow(lane, task, rules, plan)
    local oldest, following, waiting = nil, nil, 0
    for position, id in ipairs(lane.line) do
      if is_of_turn(read_known(lane.states[position]), task) then
        waiting = waiting + 1
        if waiting == 1 then oldest = id elseif waiting == 2 then following = id end
      end
    end
    task.collect = rules.collect
    if waiting < rules.cap then return end
    local reason = waiting .. ' messages of this lane wait to be collected already'
    if rules.overflow == 'new' then
      plan.outcome = { kind = 'dropped', reason = reason }
      return
    end
    plan.dropped, plan.following, plan.reason = oldest, following, reason
  end

  -- No platform keeps a message for longer: an older time comes from a wrong clock, and says nothing.
  local MAX_KEPT = 8 * 86400000

  -- Whether a message was written too early to be meant for what holds its lane: it waited at its platform, or was on its way when that began.
  local function is_late(context, lane, rules)
    local written = rules.arrival.sentAt
    if not written or written < context.now - MAX_KEPT then return false end
    if written < context.now - rules.arrival.lateAfterMs then return true end
    local holder = lane.holder and load_task(context, lane.holder)
    return holder and written < holder.createdAt + rules.collect.debounceMs
  end

  -- The lane without the messages that this one becomes one turn with.
  local function without_turn(context, lane, task)
    local others = { line = {}, states = {} }
    local holder = lane.holder and load_task(context, lane.holder)
    if not (holder and is_of_turn(holder, task)) then others.holder = lane.holder end
    for position, id in ipairs(lane.line) do
      if not is_of_turn(read_known(lane.states[position]), task) then gathering.append(others, id, lane.states[position]) end
    end
    return others
  end

  -- Mode `interrupt` of a chat: what has not begun is gathered into one turn. Returns what the message may still replace; nil for nothing,
  -- when it came late.
  function gathering.plan_arrival(context, lane, task, rules, plan)
    gathering.plan_overflow(lane, task, rules, plan)
    if is_late(context, lane, rules) then return nil end
    return without_turn(context, lane, task)
  end
end
