-- Counts what was released of a tenant's waiting tasks, and releases what was booked for tasks that it did not have.
-- KEYS[1] state: hash, the model's names, learned limits, next free times and refusals
-- KEYS[2] window: hash, `r<second>` and `t<second>` -> calls and tokens that were booked
-- KEYS[3] calls: sorted set, call under way -> end of its lease, ms
-- KEYS[4] reserved: hash, tenant -> what was booked for its released tasks
-- KEYS[5] turns: hash, next turns of bands and flows
-- KEYS[6] flows-high: sorted set, tenant with tasks of high priority that wait -> its next turn
-- KEYS[7] flows-normal: sorted set, the same of normal priority
-- KEYS[8] flows-low: sorted set, the same of low priority
-- KEYS[9] waits: sorted set, model for which tasks wait -> since when, ms
-- ARGV[1] options: JSON object of id, the limits that are configured, and the settings with their units
-- ARGV[2] tenant: text
-- ARGV[3] released: JSON list, the band of each call whose task was released
-- ARGV[4] missing: JSON list, the band of each call that is given back
-- RETURNS nil
-- include: throttle
-- include: flows
-- include: reservations
local options, tenant = cjson.decode(ARGV[1]), ARGV[2]
local flows = { high = KEYS[6], normal = KEYS[7], low = KEYS[8] }
local throttle = open_throttle({
  state = KEYS[1], window = KEYS[2], calls = KEYS[3], reserved = KEYS[4], turns = KEYS[5], flows = flows, waits = KEYS[9],
}, options)
-- A task joins its flow before the ledger lists it as waiting.
local JOINING_MS = 5000

for _, band in ipairs(cjson.decode(ARGV[3])) do leave_flow(throttle, band, tenant, 1) end

local list = parse_reservations(redis.call('HGET', KEYS[4], tenant))
for _, band in ipairs(cjson.decode(ARGV[4])) do
  local last = table.remove(list)
  if last then unbook(throttle, last.at, last.tokens) end
  local joined_at = tonumber(redis.call('HGET', KEYS[5], 's:' .. flow_of(band, tenant)) or 0)
  if joined_at + JOINING_MS <= throttle.now then leave_flow(throttle, band, tenant) end
end
save_reservations(throttle, tenant, list)
save_throttle(throttle)
