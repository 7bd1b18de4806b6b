-- Finds a key, unless its tenant has ended.
-- KEYS[1] place: where the key is
-- KEYS[2] states: tenants that are not active
-- ARGV[1] field: of the hash that the place is, or empty when it is a string
-- RETURNS its JSON, or nil
local stored = ARGV[1] == '' and redis.call('GET', KEYS[1]) or ARGV[1] ~= '' and redis.call('HGET', KEYS[1], ARGV[1])
if not stored then return false end
local is_read, key = pcall(cjson.decode, stored)
if is_read and key.tenant and redis.call('HGET', KEYS[2], key.tenant) == 'ended' then return false end
return stored
