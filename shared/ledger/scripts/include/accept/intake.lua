-- The intake gathers what a call that accepts tasks writes to the keys that all of them share: `close_intake` writes each key once.
-- `open`: entries of the cancels that are to reach sub-tasks.
local function open_intake(context, keys)
  context.counts = {}
  return {
    keys = keys, rates = buckets.open(keys.rates), rank = time_rank(context.now), index = {}, listed = {}, states = {}, tickets = {},
    created = {}, queued = {}, finished = {}, open = {}, deadline_times = {}, sla_times = {}, lane_room = {}, has_room = {}, size = 0,
    repeats = {}, repeated = {},
  }
end

-- Gathers the event of a task that ended in the call.
local function add_finished(intake, event, id)
  intake.finished[event] = intake.finished[event] or {}
  table.insert(intake.finished[event], id)
end

-- Adds a new task to the live lookups: at once, or with all others of the call where nothing reads them meanwhile.
local function add_live(context, intake, member)
  if intake.gathers then append(intake.listed, '0', member) else redis.call('ZADD', context.live, '0', member) end
end

-- Writes what was gathered of the tasks themselves, and forgets what was read: a task that may have to wait reads and changes all of it.
local function write_admitted(context, intake)
  call_many('HSET', context.states, intake.states)
  call_many('ZADD', context.live, intake.listed)
  intake.listed, intake.states, intake.lane_room, intake.has_room, intake.pending = {}, {}, {}, {}, nil
end

local function emit_all(context, ids, event)
  if #ids > 0 then emit(context, table.concat(ids, ','), event) end
end

-- Writes the lookups that were gathered, and emits what happened: what comes next in the call may change these tasks.
local function write_happened(context, intake)
  call_many('ZADD', context.index, intake.index)
  emit_all(context, intake.created, TRANSITIONS.new.pending)
  emit_all(context, intake.queued, TRANSITIONS.pending.queued)
  for _, event in ipairs({ TRANSITIONS.pending.cancelled, TRANSITIONS.pending.skipped }) do
    emit_all(context, intake.finished[event] or {}, event)
  end
  emit_all(context, context.granted, TRANSITIONS.pending.queued)
  intake.index, intake.created, intake.queued, intake.finished, context.granted = {}, {}, {}, {}, {}
end

-- Writes what was gathered. Returns the outbox entry of the call's tickets, or an empty text.
local function close_intake(context, intake)
  local entry = table.concat(intake.tickets, ',')
  write_admitted(context, intake)
  write_happened(context, intake)
  write_shared(context, 'ZADD', intake.keys.deadlines, intake.deadline_times)
  write_shared(context, 'ZADD', intake.keys.slas, intake.sla_times)
  buckets.write(context, intake.rates)
  if entry ~= '' then add_to_outbox(context, entry) end
  repetition.write(context, intake)
  return entry
end
