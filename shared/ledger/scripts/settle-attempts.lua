-- Settles attempts of one tenant, each if its task is still as the worker saw it, and moves the tasks on: to an end, to a retry, or
-- back to the queue. The caller has decided what each task becomes; the script compares and commits.
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
-- KEYS[11] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[12] signals: hash, unanswered stops of the shard by lease member, JSON
-- KEYS[13] ended: zset, ends of the shard's tasks that subscribers have not received
-- KEYS[14] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[15] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[16] attempts: hash, attempts of the tenant that others followed by `<id>:<token>`, JSON
-- KEYS[17] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[18] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[19] usage_day: hash, what the tenant's agents used this day by row
-- KEYS[20] running_usage: hash, what running attempts of the tenant have used by `<id>:<token>`, JSON
-- KEYS[21] failing: hash, failures of the tenant's agents in a row, JSON
-- KEYS[22] waits: zset, suspended runs of the shard whose wait nobody has seen to, by ms
-- KEYS[23...] per task: with a lane, its holders and its line; of a run that is suspended, its journal
-- ARGV[1] options: JSON, the context: tenant, channels, bounds and caps, and perhaps slots: how many take a ready ticket of each queue right
--   behind this call, `all` in all
-- ARGV[2...] per task: its transition, JSON; id and token; and the texts that belong to it: seen, next, attempt, output, result and
--   waiting.
--   `Transition` in settle/transition.ts says what each field and text means
-- RETURNS tickets, and three more per attempt that was not settled: its position in the call, and 'changed', state | 'lost', ''
--   | 'held', '' (its lease stands) | 'failed', reason;
--   tickets: entry in the outbox and text of each ticket that is to be added to BullMQ
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
-- include: gates
-- include: lanes
-- include: preemption
-- include: iterate
-- include: count-usage
-- include: failures
-- include: batch
-- include: continue
-- include: leave-lanes
local context = open_context(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
open_dispatch(context, KEYS[7], KEYS[8], KEYS[9], KEYS[10])
context.due = KEYS[18]
local batch = open_batch({
  leases = KEYS[11], signals = KEYS[12], ended = KEYS[13], outputs = KEYS[14], results = KEYS[15], deadlines = KEYS[17],
  usage_day = KEYS[19], running_usage = KEYS[20], failing = KEYS[21],
})
local next_key, next_arg = iterate(KEYS, 23), iterate(ARGV, 2)
gather_grants(context)

-- By JSON: what transitions have in common, as a metatable.
local alike = {}

-- The next transition of the call, or nil. With a lane it has the keys of that: `held` and `wait`.
local function read_transition()
  local head, id, token, seen, next_state, attempt, output, result, waiting = next_arg(9)
  if not head then return nil end
  alike[head] = alike[head] or { __index = cjson.decode(head) }
  local transition = { id = id, token = tonumber(token), seen = seen, next = next_state, attempt = attempt, output = output, result = result, waiting = waiting }
  setmetatable(transition, alike[head])
  if transition.laneLimit then transition.held, transition.wait = next_key(), next_key() end
  if transition.entry then transition.journal = next_key() end
  return transition
end

-- Why an attempt is not taken back from its worker now, or nil: its lease was renewed, or it has used more than the caller read.
local function find_life(transition, state)
  local lease = redis.call('ZSCORE', KEYS[11], shard_member(context, transition.id) .. '/' .. transition.token)
  if not transition.lost.isGone and lease and tonumber(lease) > context.now then return { 'held' } end
  local reported = redis.call('HGET', KEYS[20], transition.id .. ':' .. transition.token) or ''
  if state and reported ~= transition.lost.reported then return { 'changed', state } end
end

-- The answer for a task whose state is not what the worker saw.
local function changed(state, transition)
  local task = state and read_state(state, context.bodies, transition.id)
  if not task or task.status ~= 'running' or task.token ~= transition.token then return { 'lost' } end
  return { 'changed', state }
end

-- `state`: the task's, as text, or false when it cannot be settled.
local function settle(transition, state)
  if transition.refusal then return transition.refusal end
  -- This same call came before, and its answer was lost.
  if state == transition.next then return { 'settled' } end
  if state ~= transition.seen then return changed(state, transition) end
  local id = transition.id
  if transition.entry then redis.call('HSET', transition.journal, transition.entry, transition.waiting) end
  if transition.isWatched then redis.call('ZADD', KEYS[22], context.stamp, shard_member(context, id) .. '/' .. transition.entry) end
  if transition.asked then redis.call('ZREM', context.live, asking_member(transition.asked, id)) end
  if transition.attempt ~= '' then redis.call('HSET', KEYS[16], id .. ':' .. transition.token, transition.attempt) end
  local fact = transition.fact and cjson.encode(transition.fact)
  for _, event in ipairs(transition.events) do add_event(batch, id, event, fact) end
  continue_task(context, batch, transition)
  if transition.laneLimit and leaves_lanes(transition, state) then leave_settled_lane(context, batch, transition) end
  -- Last: a server without memory refuses the first write above, and lets all others pass; then nothing may have happened.
  add_settled(context, batch, transition)
  return { 'settled' }
end

local ids, transitions = {}, {}
for transition in read_transition do ids[#ids + 1], transitions[#transitions + 1] = transition.id, transition end
local known, answers, settled = redis.call('HMGET', context.states, unpack(ids)), { {} }, {}
for position, transition in ipairs(transitions) do
  transition.refusal = transition.lost and find_life(transition, known[position])
  -- It leaves no lane then.
  if transition.refusal then known[position] = false end
end
leave_shared_lanes(context, batch, transitions, known)
pass_lanes(context, batch, transitions, known)
for position, transition in ipairs(transitions) do
  -- Once in a call: the second end of a task's attempt has lost.
  local answer = isolate(settle, transition, not settled[transition.id] and known[position])
  if answer[1] == 'settled' then
    settled[transition.id] = true
  else
    return_lane(context, transition)
    answers[#answers + 1] = position
    append(answers, answer[1], answer[2] or '')
  end
end
write_batch(context, batch)
pass_on_grants(context, batch)
close_batch(context, batch)
answers[1] = publish_granted(context)
return answers
