-- Accepts tasks of one tenant: idempotency, rates, lane, caps, body, state, lookups, outbox and event of each in one step.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] ready: zset, the shard's tickets that wait for room in their queue's window, as text
-- KEYS[8] window: zset, the shard's tickets that no worker has claimed, by level and tenant
-- KEYS[9] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[10] weights: hash, weights of the shard's tenants in their turns
-- KEYS[11] rates: hash, when the tenant's buckets are empty again by class and window, ms
-- KEYS[12] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[13] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[14] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[15] tenants: hash, tenants of the shard that are not active
-- KEYS[16] slas: zset, slas of the shard's tasks, ms
-- KEYS[17...] per task: with a digest, the caller's key; with a lane, its holders and its line; with repeats, its agent's by its source
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, limits on waiting and rates
-- ARGV[2] remember: int, ms, how long a caller's key is kept
-- ARGV[3...] per task: one request
--   id: text, the task's id
--   digest: text, digest of what the caller sent under its key, or empty
--   rate_class: text, or empty when it counts for none
--   has_lane: `1`, or empty
--   path: `free` when it may be granted without its state, where no lane, time or cap keeps it waiting; `line` when it may also wait for its
--     own lane without it; `skip` when it is not to run; or empty
--   body: JSON, what never changes; see the codec
--   class: text, its class for caps
--   level: text, `<queue>/<rank>/`
--   ticket: text, cost in ms, attempts, agent and lane; see window.lua
--   deadline: int, ms, or empty
--   sla: int, ms, or empty
--   ranks_from: int, ms, what it counts from with an sla, or empty
--   shared: text, `<limit> <name>` of each of its shared lanes, separated by line feeds, or empty
--   repeats: text, `<digest of its input> <warn> <hold> <window, ms> <most held> <source> <agent>`, or empty
--   parent: text, id of the task that delegated it, or empty
--   count: int, number of lookups
--   lookups: text, so many, each an argument of its own
-- RETURNS {tickets, outbox entry, depth, answer per task}; an answer is
--   {'accepted', status, gate, tasks ahead, outcome, JSON, of a task that ended} | {'duplicate' | 'conflict', id}
--   | {'stopped', task above it, its status} | {'rate', ms, class} | {'waiting', count} | {'repeated', reason}
--   | {'closed', state of its tenant} | {'failed', reason}
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: window
-- include: turns
-- include: levels
-- include: tickets
-- include: dispatch
-- include: grants
-- include: lane-limits
-- include: shared-lanes
-- include: lanes
-- include: finish
-- include: repeats
-- include: rates
-- include: intake
-- include: parents
-- include: requests
-- include: admit
-- include: depth
-- include: iterate
-- include: prepare-requests
-- include: tenant-state
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local intake = open_intake(context, { rates = KEYS[11], deadlines = KEYS[12], ended = KEYS[13], due = KEYS[14], slas = KEYS[16] }, ARGV[2])
local next_key, next_arg = iterate(KEYS, 17), iterate(ARGV, 3)
local closed = shared_exists(KEYS[15]) and closed_state(KEYS[15], context.tenant)

-- Tasks of one call mostly have the same shared lanes.
local known_lanes = { [''] = {} }
local function parse_lanes(text)
  local lanes = known_lanes[text] or {}
  if known_lanes[text] then return lanes end
  for limit, name in string.gmatch(text, '(%d+) ([^\n]+)') do lanes[#lanes + 1] = { name = name, limit = tonumber(limit) } end
  known_lanes[text] = lanes
  return lanes
end

local function read_request(id)
  local digest, rate_class, has_lane, path, body, class, level, ticket, deadline, sla, ranks_from, shared, repeats, parent, count = next_arg(15)
  local request = {
    id = id, digest = digest, rate_class = rate_class, has_lane = has_lane ~= '', path = path, body = body, class = class, level = level,
    ticket = ticket, deadline = deadline, sla = sla, ranks_from = tonumber(ranks_from), shared = parse_lanes(shared),
    repeats = repeats, parent = parent, lookups = { next_arg(tonumber(count)) },
  }
  if request.digest ~= '' then request.known_key = next_key() end
  if request.has_lane then request.held, request.wait = next_key(), next_key() end
  if repeats ~= '' then request.repeats_key = next_key() end
  return request
end

local function is_free(request) return request.path == 'free' or request.path == 'line' end

-- Admits a task that its repeated input holds.
local function hold(request, reason)
  local task = cjson.decode(first_of(request.body))
  initialize_task(context, task)
  return repetition.admit_held(context, intake, request.id, task, reason)
end

-- Admits a task that waits, or might have to, or ends at once.
local function admit_any(request)
  -- Caps, shared lanes and the limit on waiting tasks count the live lookups.
  intake.gathers = is_free(request) and #request.shared == 0 and not context.caps and not context.waiting
  -- Who looks into a line reads the states of those who wait.
  if not intake.gathers or intake.has_lines then write_admitted(context, intake) end
  local id, task = request.id, cjson.decode(first_of(request.body))
  local is_due = initialize_task(context, task)
  if request.path == 'skip' then return admit_ended(context, intake, id, task, 'skipped') end
  local has_turn = not task.lane or lane_is_free(context, task, request.held, request.wait)
  if task.mode and is_due and not has_turn then
    task.outcome = outcome_of_full_line(context, redis.call('ZCARD', request.wait))
    if task.outcome then return admit_ended(context, intake, id, task, 'cancelled') end
  end
  local keys = { held = request.held, wait = request.wait }
  keys.shared_is_free = is_due and has_turn and shared_are_free(context, id, task)
  local may_run = keys.shared_is_free and has_room(context, task.class)
  local refusal = not may_run and refuse_waiting(context, 0)
  if refusal then return refusal end
  if task.lane then keys.is_free = has_turn end
  return admit(context, intake, id, keys, task)
end

local function accept(request)
  if closed then return { 'closed', closed } end
  local refusal = refuse_request(context, intake, request)
  if refusal then return refusal end
  local reason, excess = repetition.note(context, intake, request)
  local answer = excess or reason and hold(request, reason)
  if not answer and is_free(request) then answer = short.admit(context, intake, request) or short.join_line(context, intake, request) end
  return conclude_request(context, intake, request, answer or admit_any(request))
end

local answers, requests = { {}, '', 0 }, {}
for id in next_arg do requests[#requests + 1] = read_request(id) end
if not closed then prepare_requests(context, requests) end
for position, request in ipairs(requests) do
  local answer = isolate(accept, request)
  if answer[1] == 'failed' then forget_failed(context, request) end
  answers[position + 3] = answer
end
answers[2] = close_intake(context, intake)
answers[3] = depth_of(context.live)
answers[1] = publish_granted(context)
return answers
