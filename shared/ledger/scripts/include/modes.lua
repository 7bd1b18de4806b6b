-- Messages that one task carries on from stopped ones, and notes about those that were left out of it.
local CARRIED_MOST = 100
local NOTES_MOST = 10
local NOTE_BYTES = 160

-- What a message meets: who holds the lane longest, and the line before it, in order, with the states as text.
local function look_at_lane(book, held, wait)
  local met = { holder = redis.call('ZRANGE', held, 0, 0)[1], line = {}, states = {} }
  local ids = redis.call('ZRANGE', wait, 0, LINE_MOST - 1)
  local states = #ids > 0 and redis.call('HMGET', book.states, unpack(ids)) or {}
  for position, state in ipairs(states) do
    if state then
      met.line[#met.line + 1] = ids[position]
      met.states[#met.states + 1] = state
    end
  end
  return met
end

local function collects(state) return string.find(state, '"collect":{', 1, true) end

-- Mode `collect` over its cap: of the sender's own, the oldest goes, or the new one.
local function plan_overflow(met, task, rules, plan)
  local oldest, following, waiting = nil, nil, 0
  for position, id in ipairs(met.line) do
    if collects(met.states[position]) and same_sender(cjson.decode(met.states[position]), task) then
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

-- Whether messages of mode `queue` may still go into the holder's run: nothing waits that was not offered to it as well.
local function line_is_offered(met)
  for _, state in ipairs(met.states) do
    if string.match(state, '"steer":"([^"]+)"') ~= met.holder then return false end
  end
  return true
end

local function takes_places(state) return state.mode == 'interrupt' or state.mode == 'latest' end

-- Of the lane, what its platform numbered before this message: the only ones whose place a late message may take. `taker` is one
-- numbered after it that takes places itself, and so took this one's before it came.
local function look_at_older(book, met, task)
  local number = tonumber(task.order)
  if not number then return { holder = met.holder, line = met.line, states = met.states } end
  local older = { line = {}, states = {} }
  local holder = met.holder and load_task(book, met.holder)
  local holds_newer = holder and holder.order and tonumber(holder.order) > number
  if holds_newer and takes_places(holder) then older.taker = met.holder end
  if not holds_newer then older.holder = met.holder end
  for position, id in ipairs(met.line) do
    local its_number = number_in(met.states[position])
    if not its_number or its_number < number then
      older.line[#older.line + 1] = id
      older.states[#older.states + 1] = met.states[position]
    elseif takes_places(cjson.decode(met.states[position])) then
      older.taker = id
    end
  end
  return older
end

-- Modes `interrupt` and `latest`: whose place the message takes, or who took its own. Where what is stopped is carried along, a late
-- message waits instead, because nothing of it could go into a run that has begun.
local function plan_places(book, met, task, rules, plan)
  local older = look_at_older(book, met, task)
  if older.taker and not rules.carries then
    plan.outcome = { kind = 'superseded', taskId = older.taker, reason = 'one sent after it came first' }
    return
  end
  plan.replaced, plan.states = older.line, older.states
  if task.mode == 'interrupt' then plan.stopped = older.holder end
end

-- What a message that meets a taken lane does to others, and what becomes of itself, by its mode. Reads only.
local function plan_for(book, met, task, rules)
  local mode, plan = task.mode, { replaced = {} }
  if takes_places(task) then plan_places(book, met, task, rules, plan) end
  if mode == 'reject' then plan.outcome = { kind = 'rejected', taskId = met.holder, reason = 'another task runs in its lane' } end
  if mode == 'collect' then plan_overflow(met, task, rules, plan) end
  if rules.target then
    plan.offered = rules.target
  elseif met.holder and (mode == 'steer' or (mode == 'queue' and line_is_offered(met))) then
    local state = redis.call('HGET', book.states, met.holder)
    if state and says_running(state) then plan.offered = met.holder end
  end
  local leaving = #plan.replaced + (plan.dropped and 1 or 0)
  plan.freed = leaving
  plan.outcome = plan.outcome or outcome_of_full_line(book, #met.line - leaving)
  return plan
end

-- Whether messages like this one may go into the run of that task.
local function takes(holder, task)
  return holder.status == 'running' and not holder.cancel and holder.takesInput and holder.agent == task.agent
    and same_sender(holder, task)
end

-- What a replaced task was asked goes on to the one of its sender that replaces it, with what had gone into it.
local function carry(task, id, state)
  if not same_sender(state, task) then return end
  task.inputs = task.inputs or {}
  for _, part in ipairs(state.inputs or {}) do table.insert(task.inputs, { id = part.id, how = 'carried' }) end
  table.insert(task.inputs, { id = id, how = 'carried' })
  while #task.inputs > CARRIED_MOST do table.remove(task.inputs, 1) end
end

-- The beginning of a text, cut between characters.
local function beginning(text)
  if #text <= NOTE_BYTES then return text end
  return beginning_of(text, NOTE_BYTES) .. '...'
end

-- Notes that a message was left out of the turn that this task becomes.
local function note_left_out(book, task, id, state)
  local notes = state.leftOut or {}
  notes[#notes + 1] = beginning(cjson.decode(redis.call('HGET', book.bodies, id)).input)
  for _, note in ipairs(task.leftOut or {}) do notes[#notes + 1] = note end
  while #notes > NOTES_MOST do table.remove(notes, 1) end
  task.leftOut = notes
end
