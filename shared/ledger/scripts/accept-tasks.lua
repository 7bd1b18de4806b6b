-- Accepts tasks of one tenant: idempotency, rates, lane, caps, record, lookups, outbox and event of each in one step.
-- KEYS[1] parked: states of the tenant's tasks that wait for a lane or a cap
-- KEYS[2] states: the tenant's live lookups
-- KEYS[3] index: the tenant's lasting lookups
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] rates: the tenant's rates
-- KEYS[7] deadlines: the shard's deadlines
-- KEYS[8] ended: the shard's ends to tell
-- KEYS[9...] per task: its record; with a digest, the caller's key; with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps, waiting, rates
-- ARGV[2] remember: how long a caller's key is kept, ms
-- ARGV[3...] per task: id; digest of what the caller sent under its key, or empty; rate class, or empty when it counts for none;
--   `lane` or empty; `plain` when nothing can hold it back, `skip` when it is not to run, or empty; body, JSON of what never
--   changes; state, JSON of what does; number of lookups, and each
-- RETURNS {outbox entry, depth, per task: {'accepted', status, gate, ahead, outcome, JSON, of one that ended} | {'duplicate', id}
--   | {'conflict', id} | {'rate', ms, scope} | {'waiting', count} | {'failed', why}}
-- include: transitions
-- include: book
-- include: grants
-- include: lanes
-- include: endings
-- include: rates
-- include: admission
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
local intake = open_intake(KEYS[6], KEYS[7], KEYS[8], ARGV[2])
-- Caps and the bound on what waits count the live lookups.
intake.gathers = not book.caps and not book.waiting
local next_key, next_arg = walk(KEYS, 9), walk(ARGV, 3)

-- A task that waits, or might have to, or that is not to run. Returns its answer.
local function admit_any(id, keys, state, is_skipped)
  local task = cjson.decode(state)
  local is_due = begin_task(book, task)
  if is_skipped then return admit_ended(book, intake, id, keys, task, 'skipped') end
  local is_free = not task.lane or lane_is_free(book, task, keys.held, keys.wait)
  if task.mode and is_due and not is_free then
    task.outcome = outcome_of_full_line(book, redis.call('ZCARD', keys.wait))
    if task.outcome then return admit_ended(book, intake, id, keys, task, 'cancelled') end
  end
  if task.lane then keys.is_free = is_free end
  local may_run = is_due and is_free and has_room(book, task.class)
  local refusal = not may_run and refuse_waiting(book, 0)
  return refusal or admit(book, intake, id, keys, task)
end

local now = book.stamp
local plain_head = '{"status":"queued","granted":true,"ticket":1,"createdAt":' .. now .. ',"queuedAt":' .. now
  .. ',"log":"pending@' .. now .. ';queued@' .. now .. '",'

-- A task that nothing can hold back: no lane, no time, no caps. The same as above without reading what it is. Its state
-- holds its class as the first field.
local function admit_plain(id, keys, state)
  redis.call('HSET', keys.record, 'state', plain_head .. string.sub(state, 2))
  intake.listed[#intake.listed + 1] = 0
  intake.listed[#intake.listed + 1] = 'granted=' .. string.sub(state, 11, 12) .. '/' .. id
  intake.owed[#intake.owed + 1], intake.queued[#intake.queued + 1] = id .. '.1', id
  return { 'accepted', 'queued', '', 0 }
end

local function accept(id, record, digest, rate_class, has_lane, way)
  local item = { id = id, record = record, digest = digest, rate_class = rate_class, lookups = {} }
  item.known_key = digest ~= '' and next_key() or nil
  local keys = { record = record, held = has_lane and next_key() or nil, wait = has_lane and next_key() or nil }
  item.body = next_arg()
  local state = next_arg()
  for position = 1, tonumber(next_arg()) do item.lookups[position] = next_arg() end
  return let_in(book, intake, item, function()
    if way == 'plain' then return admit_plain(id, keys, state) end
    return admit_any(id, keys, state, way == 'skip')
  end)
end

local answers = { '', 0 }
local id = next_arg()
while id do
  local digest, rate_class, lane, way = next_arg(), next_arg(), next_arg(), next_arg()
  local record = next_key()
  local answer = alone(accept, id, record, digest, rate_class, lane ~= '', way)
  if answer[1] == 'failed' then redis.call('DEL', record) end
  answers[#answers + 1] = answer
  id = next_arg()
end
answers[1] = close_intake(book, intake)
answers[2] = redis.call('ZCARD', book.states)
return answers
