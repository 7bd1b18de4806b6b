-- Accepts tasks of one tenant: idempotency, rates, lane, caps, body, state, lookups, outbox and event of each in one step.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] rates: the tenant's rates
-- KEYS[8] deadlines: the shard's deadlines
-- KEYS[9] ended: the shard's ends to tell
-- KEYS[10] due: the shard's tasks that wait for a time
-- KEYS[11] tenants: those of the shard that are not active
-- KEYS[12...] per task: with a digest, the caller's key; with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps, waiting, rates
-- ARGV[2] remember: how long a caller's key is kept, ms
-- ARGV[3...] per task: id; digest of what the caller sent under its key, or empty; rate class, or empty when it counts for none;
--   `lane` or empty; `plain` when nothing can hold it back, `skip` when it is not to run, or empty; body, JSON of what never
--   changes; its class when plain, else JSON of the state that it begins with; number of lookups, and each
-- RETURNS {outbox entry, depth, per task: {'accepted', status, gate, ahead, outcome, JSON, of one that ended} | {'duplicate', id}
--   | {'conflict', id} | {'rate', ms, scope} | {'waiting', count} | {'closed', state of its tenant} | {'failed', why}}
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: due
-- include: shared-lanes
-- include: lanes
-- include: endings
-- include: rates
-- include: admission
-- include: depth
-- include: walk
-- include: tenant-state
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local intake = open_intake(KEYS[7], KEYS[8], KEYS[9], KEYS[10], ARGV[2])
-- Caps and the bound on what waits count the live lookups.
intake.gathers = not book.caps and not book.waiting
local next_key, next_arg = walk(KEYS, 12), walk(ARGV, 3)
local closed = closed_state(KEYS[11], book.tenant)

-- A task that waits, or might have to, or that is not to run. Returns its answer.
local function admit_any(id, keys, first, is_skipped)
  local task = cjson.decode(first)
  local is_due = begin_task(book, task)
  if is_skipped then return admit_ended(book, intake, id, task, 'skipped') end
  local is_free = not task.lane or lane_is_free(book, task, keys.held, keys.wait)
  if task.mode and is_due and not is_free then
    task.outcome = outcome_of_full_line(book, redis.call('ZCARD', keys.wait))
    if task.outcome then return admit_ended(book, intake, id, task, 'cancelled') end
  end
  if task.lane then keys.is_free = is_free end
  local may_run = is_due and is_free and shared_are_free(book, id, task) and has_room(book, task.class)
  local refusal = not may_run and refuse_waiting(book, 0)
  return refusal or admit(book, intake, id, keys, task)
end

-- A task that nothing can hold back: no lane, no time, no caps. The same as above without reading what it is.
local function admit_plain(id, class)
  keep_short(book, intake, id)
  list_live(book, intake, 'granted=' .. class .. '/' .. id)
  intake.owed[#intake.owed + 1], intake.queued[#intake.queued + 1] = id .. '.1', id
  return { 'accepted', 'queued', '', 0 }
end

local function accept(id, digest, rate_class, has_lane, way)
  local item = { id = id, digest = digest, rate_class = rate_class, lookups = {} }
  item.known_key = digest ~= '' and next_key() or nil
  local keys = { held = has_lane and next_key() or nil, wait = has_lane and next_key() or nil }
  item.body = next_arg()
  local first = next_arg()
  for position = 1, tonumber(next_arg()) do item.lookups[position] = next_arg() end
  if closed then return { 'closed', closed } end
  return let_in(book, intake, item, function()
    if way == 'plain' then return admit_plain(id, first) end
    return admit_any(id, keys, first, way == 'skip')
  end)
end

local answers = { '', 0 }
local id = next_arg()
while id do
  local digest, rate_class, lane, way = next_arg(), next_arg(), next_arg(), next_arg()
  local answer = alone(accept, id, digest, rate_class, lane ~= '', way)
  if answer[1] == 'failed' then redis.call('HDEL', book.bodies, id) end
  answers[#answers + 1] = answer
  id = next_arg()
end
answers[1] = close_intake(book, intake)
answers[2] = depth_of(book.live)
return answers
