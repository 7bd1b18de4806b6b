-- Ends a call: corrects what it used, learns what the answer says of limits, and stops further calls when it was refused.
-- KEYS[1] state: hash, the model's names, learned limits, next free times and refusals
-- KEYS[2] window: hash, `r<second>` and `t<second>` -> calls and tokens that were booked
-- KEYS[3] calls: sorted set, call under way -> end of its lease, ms
-- KEYS[4] account: hash, a refusal of the account
-- KEYS[5] endpoint: hash, a refusal of the endpoint
-- KEYS[6] waits: sorted set, model for which tasks wait -> since when, ms
-- KEYS[7] turns: hash, next turns of bands and flows
-- KEYS[8] flows-high: sorted set, tenant with tasks of high priority that wait -> its next turn
-- KEYS[9] flows-normal: sorted set, the same of normal priority
-- KEYS[10] flows-low: sorted set, the same of low priority
-- ARGV[1] options: JSON object of id, the limits that are configured, and the settings with their units
-- ARGV[2] report: JSON object of permit, at (ms), booked (tokens), flow (tenant, band, weight), and of what is known: used (tokens),
--   sentAgoMs, beganAfterMs, isUnused, isAnswered, block, requests, tokens
-- RETURNS {1 when tasks wait else 0, 1 when a wall rose else 0, 1 when one fell else 0, ms until which its refusal holds, else 0}
-- include: throttle
-- include: blocks
-- include: flows
local options, report = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
local throttle = open_throttle({
  state = KEYS[1], window = KEYS[2], calls = KEYS[3], account = KEYS[4], endpoint = KEYS[5], waits = KEYS[6], turns = KEYS[7],
  flows = { high = KEYS[8], normal = KEYS[9], low = KEYS[10] },
}, options)
-- How long a rate holds that was guessed after a refusal, and from how many calls in a minute one is guessed.
local GUESS_MS = 120000
local MIN_GUESSED = 10
-- From which lateness on a process was busy, and how long a call is on its way at most, by a process that was busy or was not. An answer may
-- begin much later.
local LATE_MS = 300
local MAX_LATE_TRIP_MS = 10000
local MAX_TRIP_MS = 2000

-- The time for which a call counts: when the provider had it, which was at the latest when its answer began. A busy process sends late, and
-- what it sends may be long on its way.
local function counted_at()
  if not report.sentAgoMs then return report.at end
  local sent = throttle.now - report.sentAgoMs
  local max_trip = sent - report.at > LATE_MS and MAX_LATE_TRIP_MS or MAX_TRIP_MS
  return math.max(report.at, sent + math.min(report.beganAfterMs, max_trip))
end

-- Counts a late call for the minute after the provider had it. Returns the time for which it counts.
local function move_late_call()
  local at = counted_at()
  if math.floor(at / 1000) == math.floor(report.at / 1000) or not is_kept(throttle, report.at) then return report.at end
  add_booked(throttle, report.at, -1, -report.booked)
  add_booked(throttle, at, 1, report.booked)
  return at
end

redis.call('ZREM', KEYS[3], report.permit)
if report.isUnused then
  unbook(throttle, report.at, report.booked)
  end_probe(throttle, report.permit)
else
  local at = move_late_call()
  if report.used and report.used ~= report.booked and is_kept(throttle, at) then
    add_booked(throttle, at, 0, report.used - report.booked)
    spread(throttle, at, 0, report.used - report.booked)
  end
end

-- What others used of the same account, as the newest answer shows it: what is left there is less than what is left by our count.
local function learn(name, field, stated, used)
  if not stated then return end
  if stated.limit then set_state(throttle, 'learned_' .. field, stated.limit) end
  local limit = least(options[field], stated.limit or throttle.state['learned_' .. field])
  if not stated.remaining or not limit then return end
  local foreign = math.max(0, limit - used - stated.remaining)
  set_state(throttle, 'foreign_' .. field, foreign)
  return foreign > 0 and report.at + math.min(stated.resetMs or 60000, 60000) or nil
end

if (report.requests or report.tokens) and report.at >= tonumber(throttle.state.learned_at or 0) then
  local calls, tokens = used_at(throttle, report.at)
  local calls_until = learn('calls', 'requests', report.requests, calls)
  local tokens_until = learn('tokens', 'tokens', report.tokens, tokens)
  set_state(throttle, 'learned_at', report.at, 'foreign_until', math.ceil(math.max(calls_until or 0, tokens_until or 0)))
end

local rose, fell, blocked_until = false, false, 0
if report.block then
  rose, blocked_until = raise_block(throttle, report.block, report.at)
  -- Its task waits for the next call among the others.
  join_flow(throttle, report.flow)
  local calls = used_at(throttle, throttle.now)
  if report.block.kind == 'cooldown' and report.block.scope == 'model' and not throttle.requests and calls >= MIN_GUESSED then
    set_state(throttle, 'guess', math.floor(calls * 0.9), 'guess_until', throttle.now + GUESS_MS)
  end
elseif report.isAnswered then
  fell = clear_blocks(throttle, report.at)
end
save_throttle(throttle)
return { redis.call('ZSCORE', KEYS[6], options.id) and 1 or 0, rose and 1 or 0, fell and 1 or 0, blocked_until }
