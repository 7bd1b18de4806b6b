-- Messages whose input one task carries on from stopped ones, and notes about messages that were left out of it.

local modes = {}
do
  local MAX_CARRIED = 100
  local MAX_NOTES = 10
  local MAX_NOTE_BYTES = 160

  -- What a message meets in its lane: the task that holds it longest, and the line before it, in order, with the states as text.
  function modes.read_lane(context, held, wait)
    local lane = { holder = redis.call('ZRANGE', held, 0, 0)[1], line = {}, states = {} }
    local ids = redis.call('ZRANGE', wait, 0, MAX_LINE - 1)
    local states = #ids > 0 and redis.call('HMGET', context.states, unpack(ids)) or {}
    for position, text in ipairs(states) do
      if text then gathering.append(lane, ids[position], text) end
    end
    return lane
  end

  -- Whether messages of mode `queue` may still go into the holder's run: all that wait were offered to the holder as well.
  local function line_is_offered(lane)
    for _, text in ipairs(lane.states) do
      if read_known(text).steer ~= lane.holder then return false end
    end
    return true
  end

  local function replaces_others(state) return state.mode == 'interrupt' or state.mode == 'latest' end

  -- The part of the lane that its platform numbered before this message: only these may a late message replace. `replacer` is a
  -- message numbered after it that replaces others, and so replaced this one before it came.
  local function older_part(context, lane, task)
    local number = tonumber(task.order)
    if not number then return lane end
    local older = { line = {}, states = {} }
    local holder = lane.holder and load_task(context, lane.holder)
    local is_newer = holder and holder.order and tonumber(holder.order) > number
    if is_newer and replaces_others(holder) then older.replacer = lane.holder end
    if not is_newer then older.holder = lane.holder end
    for position, id in ipairs(lane.line) do
      local text = lane.states[position]
      local state = read_known(text)
      local other_number = tonumber(state.order)
      if not other_number or other_number < number then
        gathering.append(older, id, text)
      elseif replaces_others(state) then
        older.replacer = id
      end
    end
    return older
  end

  -- Whether the message ends what holds its lane: one that runs by `interrupt` only, a suspended run always; neither while it asks people.
  local function ends_holder(context, task, id)
    local holder = load_task(context, id)
    if holder and (holder.asking or holder.status == 'suspended' and holder.gate == 'question') then return false end
    return task.mode == 'interrupt' or holder ~= nil and holder.status == 'suspended'
  end

  -- Modes `interrupt` and `latest`: which tasks the message replaces, or which one replaced it. Where the input of what is stopped is
  -- carried on, a late message waits instead, because nothing of it could go into a run that has begun.
  local function plan_replacement(context, lane, task, rules, plan)
    local others = lane
    if rules.arrival then others = gathering.plan_arrival(context, lane, task, rules, plan) end
    if not others then return end
    local older = older_part(context, others, task)
    if older.replacer and not rules.carries then
      plan.outcome = { kind = 'superseded', taskId = older.replacer, reason = 'one sent after it came first' }
      return
    end
    plan.replaced, plan.states = older.line, older.states
    if older.holder and ends_holder(context, task, older.holder) then plan.stopped = older.holder end
  end

  -- What a message that meets a taken lane does to others, and what becomes of itself, by its mode. Reads only.
  function modes.plan_for(context, lane, task, rules)
    local mode, plan = task.mode, { replaced = {} }
    if replaces_others(task) then plan_replacement(context, lane, task, rules, plan) end
    if mode == 'reject' then plan.outcome = { kind = 'rejected', taskId = lane.holder, reason = 'another task runs in its lane' } end
    if mode == 'collect' then gathering.plan_overflow(lane, task, rules, plan) end
    if rules.target then
      plan.offered = rules.target
    elseif lane.holder and (mode == 'steer' or (mode == 'queue' and line_is_offered(lane))) then
      local holder = load_task(context, lane.holder)
      if holder and holder.status == 'running' then plan.offered = lane.holder end
    end
    plan.freed = #plan.replaced + (plan.dropped and 1 or 0)
    plan.outcome = plan.outcome or outcome_of_full_line(context, #lane.line - plan.freed)
    return plan
  end

  -- Whether messages like this one may go into the run of that task.
  function modes.takes_input(holder, task)
    return holder.status == 'running' and not holder.cancel and holder.takesInput and holder.agent == task.agent
      and same_sender(holder, task)
  end

  -- The input of a replaced task goes on to the task of its sender that replaces it, with what had gone into it.
  function modes.carry_input(task, id, state)
    if not same_sender(state, task) then return end
    task.inputs = task.inputs or {}
    for _, part in ipairs(state.inputs or {}) do table.insert(task.inputs, { id = part.id, how = 'carried' }) end
    table.insert(task.inputs, { id = id, how = 'carried' })
    while #task.inputs > MAX_CARRIED do table.remove(task.inputs, 1) end
  end

  -- Notes that a message was left out of the turn that this task becomes, by the beginning of its input.
  function modes.note_left_out(context, task, id, state)
    local input = input_beginning(redis.call('HGET', context.bodies, id), MAX_NOTE_BYTES)
    local notes = state.leftOut or {}
    notes[#notes + 1] = #input > MAX_NOTE_BYTES and beginning_of(input, MAX_NOTE_BYTES) .. '...' or input
    for _, note in ipairs(task.leftOut or {}) do notes[#notes + 1] = note end
    while #notes > MAX_NOTES do table.remove(notes, 1) end
    task.leftOut = notes
  end
end
