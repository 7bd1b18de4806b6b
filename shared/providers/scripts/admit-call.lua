-- Admits a call of a model, now or at a time that is booked for it, or returns what it waits for.
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
-- KEYS[12] throttles: sorted set, model of an account -> its last call, ms
-- KEYS[13] waits: sorted set, model for which tasks wait -> since when, ms
-- ARGV[1] options: JSON object of id, names, the limits that are configured, and the settings with their units
-- ARGV[2] call: JSON object of permit, tenant, band, weight, tokens, isFirst, isReturning, leftMs
-- RETURNS {'go', ms at which it may go, now} | {'wait', because, until ms, now, scope, 1 when it waited long enough in its slot else 0}
-- include: throttle
-- include: blocks
-- include: flows
-- include: reservations
local options, call = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
local flows = { high = KEYS[7], normal = KEYS[8], low = KEYS[9] }
local throttle = open_throttle({
  state = KEYS[1], window = KEYS[2], calls = KEYS[3], line = KEYS[4], reserved = KEYS[5], turns = KEYS[6], flows = flows,
  account = KEYS[10], endpoint = KEYS[11], waits = KEYS[13],
}, options)
-- Between two tries of a call that waits for the end of another.
local RETRY_MS = 100
-- A call that has not tried for so long was given up.
local GIVEN_UP_MS = 3000

if redis.call('ZADD', KEYS[12], 'GT', 'CH', throttle.now, options.id) == 1 and not throttle.state.account then
  set_state(throttle, 'account', options.account, 'model', options.model, 'endpoint', options.endpoint)
  redis.call('ZREMRANGEBYRANK', KEYS[12], 0, -options.maxRecords - 1)
  redis.call('ZREMRANGEBYSCORE', KEYS[12], '-inf', throttle.now - options.retentionMs)
end

local function wait_for(because, at, scope, is_over)
  is_over = is_over or at > throttle.now + call.leftMs
  if is_over then
    redis.call('ZREM', KEYS[4], call.permit)
    join_flow(throttle, call)
  end
  set_state(throttle, 'because', because)
  return { 'wait', because, at, throttle.now, scope, is_over and 1 or 0 }
end

-- Later calls of attempts stand before first ones; a permit's name begins with its place.
local function ahead_in_line()
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', throttle.now - GIVEN_UP_MS)
  local ahead = 0
  for _, permit in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
    if permit < call.permit then ahead = ahead + 1 end
  end
  return ahead
end

local function go_at(at, due)
  start_probe(throttle, due, call.permit)
  if throttle.concurrent then redis.call('ZREM', KEYS[4], call.permit) end
  redis.call('ZADD', KEYS[3], at + options.callLeaseMs, call.permit)
  redis.call('PEXPIRE', KEYS[3], options.retentionMs)
  return { 'go', at, throttle.now }
end

-- The mean of recent first calls stands for those of tasks that are released.
local function move_average()
  set_state(throttle, 'average', math.ceil(0.9 * tonumber(throttle.state.average or call.tokens) + 0.1 * call.tokens))
end

local function admit()
  -- The client sends a call again when its reply was lost.
  if redis.call('ZSCORE', KEYS[3], call.permit) then return { 'go', throttle.now, throttle.now } end

  local block, due = find_block(throttle, call.isReturning and call.tenant or nil)
  if block then return wait_for(block.because, block.at, block.scope) end

  local reservations, reserved = read_reservations(throttle)
  local own = reservations[call.tenant]
  if call.isFirst and call.isReturning and own and #own > 0 then
    local reservation = table.remove(own, 1)
    save_reservations(throttle, call.tenant, own)
    local at = math.max(throttle.now, reservation.at)
    add_booked(throttle, reservation.at, -1, -reservation.tokens)
    add_booked(throttle, at, 1, call.tokens)
    -- What was booked for it was an average.
    spread(throttle, at, 0, call.tokens - reservation.tokens)
    move_average()
    return go_at(at, due)
  end

  if throttle.concurrent then
    local busy = redis.call('ZCARD', KEYS[3]) + reserved + ahead_in_line()
    if busy >= throttle.concurrent then
      redis.call('ZADD', KEYS[4], throttle.now, call.permit)
      redis.call('PEXPIRE', KEYS[4], GIVEN_UP_MS)
      return wait_for('concurrent', throttle.now + RETRY_MS, 'model')
    end
  end

  local at, because = earliest(throttle, call.tokens)
  local best = redis.call('ZSCORE', KEYS[13], options.id) and best_flow(throttle, { count = 0 }) or nil
  if call.isFirst and not goes_before(throttle, call, best) then return wait_for(because, at, 'model', true) end
  if at > throttle.now + call.leftMs then return wait_for(because, at, 'model') end
  reserve_call(throttle, at, call.tokens)
  -- Turns count only while some wait: what was used before is no debt.
  if best then serve(throttle, call, cost_of(throttle, call.tokens)) else redis.call('DEL', KEYS[6]) end
  if call.isFirst then move_average() end
  return go_at(at, due)
end

local answer = admit()
save_throttle(throttle)
return answer
