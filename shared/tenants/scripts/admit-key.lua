-- Finds a key, unless its tenant has ended, and counts calls with it.
-- KEYS[1] place: where the key is
-- KEYS[2] states: tenants that are not active
-- KEYS[3] counter: calls with the key whose id is given
-- ARGV[1] field: of the hash that the place is, or empty when it is a string
-- ARGV[2] id: of the key that the counter is for, or empty
-- ARGV[3] calls: int, how many to count
-- ARGV[4] window: int, s, after which the counter starts again
-- RETURNS {its JSON}, with {calls counted in this window, ms until it ends} behind it when the id is the key's; or nil. Where Redis refuses
-- to count, 0 are counted: what only reads or removes goes on while it is full.
local stored = ARGV[1] == '' and redis.call('GET', KEYS[1]) or ARGV[1] ~= '' and redis.call('HGET', KEYS[1], ARGV[1])
if not stored then return false end
local is_read, key = pcall(cjson.decode, stored)
if not is_read or type(key) ~= 'table' then return { stored } end
if key.tenant and redis.call('HGET', KEYS[2], key.tenant) == 'ended' then return false end
if key.id ~= ARGV[2] then return { stored } end
local counted = redis.pcall('INCRBY', KEYS[3], ARGV[3])
if type(counted) == 'table' then return { stored, 0, ARGV[4] * 1000 } end
local left = redis.call('PTTL', KEYS[3])
if left < 0 then
  redis.call('EXPIRE', KEYS[3], ARGV[4])
  left = ARGV[4] * 1000
end
return { stored, counted, left }
