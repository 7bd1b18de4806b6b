-- Gives one call in spite of a provider's refusal to a tenant whose task a person retries. What is only bound by a rate keeps its turn.
-- KEYS[1] state: hash, the model's names, learned limits, next free times and refusals
-- KEYS[2] window: hash, `r<second>` and `t<second>` -> calls and tokens that were booked
-- KEYS[3] calls: sorted set, call under way -> end of its lease, ms
-- KEYS[4] reserved: hash, tenant -> what was booked for its released tasks
-- KEYS[5] account: hash, a refusal of the account
-- KEYS[6] endpoint: hash, a refusal of the endpoint
-- ARGV[1] options: JSON object of id, the limits that are configured, and the settings with their units
-- ARGV[2] tenant: text
-- RETURNS 1, or 0 where nothing was refused
-- include: throttle
-- include: blocks
-- include: reservations
local options, tenant = cjson.decode(ARGV[1]), ARGV[2]
local throttle = open_throttle({
  state = KEYS[1], window = KEYS[2], calls = KEYS[3], reserved = KEYS[4], account = KEYS[5], endpoint = KEYS[6],
}, options)
local standing = standing_blocks(throttle)
if #standing == 0 then return 0 end
start_probe(throttle, standing, tenant, options.reservationMs)
local tokens = tonumber(throttle.state.average or 0)
add_booked(throttle, throttle.now, 1, tokens)
spread(throttle, throttle.now, 1, tokens)
add_reservation(throttle, tenant, { at = throttle.now, tokens = tokens, expiry = throttle.now + options.reservationMs })
save_throttle(throttle)
return 1
