-- The intake gathers what a call that accepts tasks writes to the keys that all of them share: `close_intake` writes each key once.
local function open_intake(context, keys, remember_ms)
  context.counts = {}
  local stamp = context.stamp
  return {
    queued_state = 'q ' .. stamp .. ' ' .. stamp, rates = buckets.open(keys.rates), deadlines = keys.deadlines, slas = keys.slas, ended = keys.ended, due = keys.due, remember_ms = remember_ms,
    index = {}, listed = {}, states = {}, tickets = {}, created = {}, queued = {}, finished = {},
    deadline_times = {}, sla_times = {}, lane_room = {}, repeats = {}, repeated = {}, rank = time_rank(context.now),
  }
end

-- Gathers the event of a task that ended in the call.
local function add_finished(intake, event, id)
  intake.finished[event] = intake.finished[event] or {}
  table.insert(intake.finished[event], id)
end

-- Adds a new task to the live lookups: at once, or with all others of the call where nothing reads them meanwhile.
local function add_live(context, intake, member)
  if not intake.gathers then
    redis.call('ZADD', context.live, '0', member)
    return
  end
  append(intake.listed, '0', member)
end

-- Saves the short state of a task that is granted at once: now, or with all others of the call.
local function save_short(context, intake, id)
  local state = intake.queued_state
  if not intake.gathers then
    redis.call('HSET', context.states, id, state)
    return
  end
  append(intake.states, id, state)
end

-- Writes what was gathered of the tasks themselves, and forgets what was read: a task that may have to wait reads and changes all of it.
local function write_admitted(context, intake)
  call_many('ZADD', context.live, intake.listed)
  call_many('HSET', context.states, intake.states)
  intake.listed, intake.states, intake.lane_room, intake.has_lines = {}, {}, {}, nil
end

-- Writes what was gathered. Returns the outbox entry of the call's tickets, or an empty text.
local function close_intake(context, intake)
  local entry = table.concat(intake.tickets, ',')
  if #intake.index > 0 then redis.call('ZADD', context.index, unpack(intake.index)) end
  write_admitted(context, intake)
  write_shared(context, 'ZADD', intake.deadlines, intake.deadline_times)
  write_shared(context, 'ZADD', intake.slas, intake.sla_times)
  buckets.write(intake.rates)
  if entry ~= '' then add_to_outbox(context, entry) end
  if #intake.created > 0 then emit(context, table.concat(intake.created, ','), TRANSITIONS.new.pending) end
  if #intake.queued > 0 then emit(context, table.concat(intake.queued, ','), TRANSITIONS.pending.queued) end
  for _, event in ipairs({ TRANSITIONS.pending.cancelled, TRANSITIONS.pending.skipped }) do
    local ids = intake.finished[event] or {}
    if #ids > 0 then emit(context, table.concat(ids, ','), event) end
  end
  repetition.write(context, intake)
  return entry
end
