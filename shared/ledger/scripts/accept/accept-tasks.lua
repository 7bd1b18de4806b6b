-- Accepts tasks and messages of one tenant: idempotency, rates, mode, lane, caps, body, state, lookups, outbox and event of each in one step.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] index: zset, lookups of all the tenant's tasks
-- KEYS[4] events: stream, the tenant's events
-- KEYS[5] outbox: zset, the shard's tickets to add to BullMQ, by ms
-- KEYS[6] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[7] ready: zset, the shard's tickets that wait for a slot, as text
-- KEYS[8] jobs: zset, the shard's tickets with a job in BullMQ that no worker has drawn, by queue
-- KEYS[9] turns: zset, the shard's tenants with ready tickets by level and virtual time
-- KEYS[10] weights: hash, weights of the shard's tenants in their turns
-- KEYS[11] rates: hash, when the tenant's buckets are empty again by class and window, ms
-- KEYS[12] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[13] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[14] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[15] tenants: hash, tenants of the shard that are not active
-- KEYS[16] slas: zset, slas of the shard's tasks, ms
-- KEYS[17] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[18] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[19] open: zset, the shard's cancels that are to reach sub-tasks, by ms
-- KEYS[20...] per task: with a digest, the caller's key; with a lane, its holders and its line; with repeats, its agent's by its source
-- ARGV[1] options: JSON, the context: tenant, channels, bounds, caps, rates, the limit on waiting, and `rememberMs` (of a caller's key);
--   with `isInOrder` a task behind one of its lane that was refused for now is refused with it
-- ARGV[2...] per task: one request
--   item: JSON, what is decided by; `ItemFields` in accept-item.ts
--   body: JSON, what never changes; see the codec
-- RETURNS {tickets, outbox entry, depth, open, answer per task}; open: entries of the cancels whose sub-tasks are to be cancelled; an answer is
--   {'accepted', status, gate, tasks ahead, outcome, JSON, of a task that ended} | {'duplicate' | 'conflict', id}
--   | {'stopped', task above it, its status} | {'rate', ms, class} | {'waiting', count} | {'repeated', reason}
--   | {'refused', 'not-running' | 'takes-no-input'} | {'closed', state of its tenant} | {'failed', reason}
-- include: transitions
-- include: body-layout
-- include: states
-- include: queues
-- include: context
-- include: ready
-- include: turns
-- include: tickets
-- include: grants
-- include: lane-limits
-- include: repeats
-- include: rates
-- include: intake
-- include: parents
-- include: iterate
-- include: items
-- include: admit-short
-- include: admit-any
-- include: depth
-- include: tenant-state
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[14]
local intake = open_intake(context, {
  rates = KEYS[11], deadlines = KEYS[12], ended = KEYS[13], slas = KEYS[16], leases = KEYS[17], signals = KEYS[18], open = KEYS[19],
})
local closed = shared_exists(KEYS[15]) and closed_state(KEYS[15], context.tenant)
local all = items.read(iterate(KEYS, 20), iterate(ARGV, 2))
intake.size = #all
if not closed then items.prepare(context, all) end

-- By lane, the refusal of one that may come again.
local refused = {}

local function decide(item)
  local refusal = refused[item.held] or items.refuse(context, intake, item)
  if refusal then return refusal end
  local held_by, excess = repetition.note(context, intake, item)
  if excess then return excess end
  local answer = not held_by and (short.admit(context, intake, item) or short.join_line(context, intake, item))
  return answer or admit_any(context, intake, item, held_by)
end

local function accept(item)
  if closed then return { 'closed', closed } end
  return items.came_before(context, item) or items.conclude(context, intake, item, decide(item))
end

local MAY_COME_AGAIN = { rate = true, waiting = true, failed = true }
local answers = {}
for position, item in ipairs(all) do
  local answer = isolate(accept, item)
  if answer[1] == 'failed' then items.forget(context, item) end
  if context.isInOrder and item.held and MAY_COME_AGAIN[answer[1]] then refused[item.held] = answer end
  answers[position] = answer
end
local entry = close_intake(context, intake)
local depth = depth_of(context.live)
return { publish_granted(context), entry, depth, intake.open, unpack(answers) }
