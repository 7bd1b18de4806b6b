-- Books the next calls that may be made soon, for waiting tasks in their turn.
-- KEYS[1] state: hash, the model's names, learned limits, next free times and refusals
-- KEYS[2] window: hash, `r<second>` and `t<second>` -> calls and tokens that were booked
-- KEYS[3] calls: sorted set, call under way -> end of its lease, ms
-- KEYS[4] line: sorted set, call that waits in its slot for another's end -> its last try, ms
-- KEYS[5] reserved: hash, tenant -> what was booked for its released tasks
-- KEYS[6] turns: hash, next turns of bands and flows
-- KEYS[7] flows-high: sorted set, tenant with tasks of high priority that wait -> its next turn
-- KEYS[8] flows-normal: sorted set, the same of normal priority
-- KEYS[9] flows-low: sorted set, the same of low priority
-- KEYS[10] account: hash, a refusal of the account
-- KEYS[11] endpoint: hash, a refusal of the endpoint
-- KEYS[12] waits: sorted set, model for which tasks wait -> since when, ms
-- ARGV[1] options: JSON object of id, the limits that are configured, and the settings with their units
-- ARGV[2] max: int, calls that are booked at most
-- ARGV[3] excluded: JSON list of `<band>/<tenant>` that have no task
-- RETURNS `<band>/<tenant>` of each call that was booked
-- include: throttle
-- include: blocks
-- include: flows
-- include: reservations
local options, max = cjson.decode(ARGV[1]), tonumber(ARGV[2])
local flows = { high = KEYS[7], normal = KEYS[8], low = KEYS[9] }
local throttle = open_throttle({
  state = KEYS[1], window = KEYS[2], calls = KEYS[3], line = KEYS[4], reserved = KEYS[5], turns = KEYS[6], flows = flows,
  account = KEYS[10], endpoint = KEYS[11], waits = KEYS[12],
}, options)
local excluded = { count = 0 }
for _, flow in ipairs(cjson.decode(ARGV[3])) do
  excluded[flow] = true
  excluded.count = excluded.count + 1
end

local block, due = find_block(throttle, nil)
if block then return {} end
-- One task tries a wall.
if #due > 0 then max = math.min(max, 1) end

local _, reserved = read_reservations(throttle)
local busy = redis.call('ZCARD', KEYS[3]) + reserved + redis.call('ZCARD', KEYS[4])
local tokens = tonumber(throttle.state.average or 0)
local booked, of_flow = {}, {}
while #booked < max and (not throttle.concurrent or busy + #booked < throttle.concurrent) do
  local best = best_flow(throttle, excluded)
  if best == nil then break end
  local at = earliest(throttle, tokens)
  if at > throttle.now + options.horizonMs then break end
  local name = flow_of(best.band, best.tenant)
  of_flow[name] = (of_flow[name] or 0) + 1
  if of_flow[name] >= tonumber(redis.call('HGET', KEYS[6], 'n:' .. name) or 0) then
    excluded[name] = true
    excluded.count = excluded.count + 1
  end
  best.weight = tonumber(redis.call('HGET', KEYS[6], 'w:' .. name) or 1)
  reserve_call(throttle, at, tokens)
  serve(throttle, best, cost_of(throttle, tokens))
  add_reservation(throttle, best.tenant, { at = at, tokens = tokens, expiry = at + options.reservationMs })
  start_probe(throttle, due, best.tenant, options.reservationMs)
  booked[#booked + 1] = name
end
save_throttle(throttle)
return booked
