-- Who may call next: bands by their shares, the tenants of a band by their weights, by start-time fair queueing. A flow is a tenant in a
-- band. Fields of the turns: `<band>` and `<flow>` are next turns, `=` and `=<band>` the turns served last, `n`, `s` and `w` of a flow its
-- waiting tasks, when the last one came, and its weight.

local BANDS = { 'high', 'normal', 'low' }
local ORDER = { high = 1, normal = 2, low = 3 }

local function flow_of(band, tenant) return band .. '/' .. tenant end

local function turn_of(throttle, name, floor)
  local values = redis.call('HMGET', throttle.keys.turns, name, floor)
  return math.max(tonumber(values[1] or 0), tonumber(values[2] or 0))
end

-- The flow whose task is next, or nil when none waits. `excluded` flows are skipped.
local function best_flow(throttle, excluded)
  local best = nil
  for _, band in ipairs(BANDS) do
    local page = redis.call('ZRANGE', throttle.keys.flows[band], 0, excluded.count, 'WITHSCORES')
    for position = 1, #page, 2 do
      local tenant = page[position]
      if not excluded[flow_of(band, tenant)] then
        local turn = turn_of(throttle, band, '=')
        if best == nil or turn < best.turn then
          best = { band = band, tenant = tenant, turn = turn, flow_turn = tonumber(page[position + 1]) }
        end
        break
      end
    end
  end
  return best
end

-- Whether a new call may be made before the best waiting one. Never before an earlier call of its own flow.
local function goes_before(throttle, call, best)
  if best == nil then return true end
  if redis.call('ZSCORE', throttle.keys.flows[call.band], call.tenant) then return false end
  if call.band == best.band then
    return turn_of(throttle, flow_of(call.band, call.tenant), '=' .. call.band) < best.flow_turn
  end
  local turn = turn_of(throttle, call.band, '=')
  return turn < best.turn or (turn == best.turn and ORDER[call.band] < ORDER[best.band])
end

-- Counts a call of so much cost as its flow's, and as its band's.
local function serve(throttle, flow, cost)
  local turns, name, band = throttle.keys.turns, flow_of(flow.band, flow.tenant), flow.band
  local band_turn = turn_of(throttle, band, '=')
  local flow_turn = turn_of(throttle, name, '=' .. band)
  local next_turn = flow_turn + cost / flow.weight
  local shares = throttle.options.shares
  redis.call('HSET', turns, '=', band_turn, band, band_turn + cost * 100 / shares[band], '=' .. band, flow_turn, name, next_turn)
  redis.call('PEXPIRE', turns, throttle.options.retentionMs)
  redis.call('ZADD', throttle.keys.flows[band], 'XX', next_turn, flow.tenant)
end

-- A task of this flow waits from now on.
local function join_flow(throttle, flow)
  local turns, name, key = throttle.keys.turns, flow_of(flow.band, flow.tenant), throttle.keys.flows[flow.band]
  redis.call('HINCRBY', turns, 'n:' .. name, 1)
  redis.call('HSET', turns, 's:' .. name, throttle.now, 'w:' .. name, flow.weight)
  redis.call('ZADD', key, 'NX', turn_of(throttle, name, '=' .. flow.band), flow.tenant)
  redis.call('ZADD', throttle.keys.waits, 'NX', throttle.now, throttle.options.id)
  for _, each in ipairs({ turns, key }) do redis.call('PEXPIRE', each, throttle.options.retentionMs) end
end

-- Removes so many waiting tasks of this flow; all of them without a count.
local function leave_flow(throttle, band, tenant, count)
  local keys, name = throttle.keys, flow_of(band, tenant)
  local left = count and redis.call('HINCRBY', keys.turns, 'n:' .. name, -count) or 0
  if left > 0 or not redis.call('ZSCORE', keys.flows[band], tenant) then return end
  redis.call('ZREM', keys.flows[band], tenant)
  redis.call('HDEL', keys.turns, 'n:' .. name)
  for _, each in ipairs(BANDS) do
    if redis.call('EXISTS', keys.flows[each]) == 1 then return end
  end
  redis.call('ZREM', keys.waits, throttle.options.id)
end
