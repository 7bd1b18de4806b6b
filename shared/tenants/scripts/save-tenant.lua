-- Writes a tenant's record and its state, unless it ended or its name belongs to another generation.
-- KEYS[1] tenants: by name
-- KEYS[2] states: tenants that are not active
-- ARGV[1] name: of the tenant
-- ARGV[2] id: of the tenant
-- ARGV[3] record: its JSON
-- ARGV[4] state: `disabled`, or empty
-- ARGV[5] seen: the record as it was read, empty for none, or `*` when it does not matter
-- RETURNS 1, 0 when it is gone, or 2 when it changed since it was read
if redis.call('HGET', KEYS[2], ARGV[2]) == 'ended' then return 0 end
local known = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[5] ~= '*' and ARGV[5] ~= (known or '') then return 2 end
local is_read, stored = pcall(cjson.decode, known or '{}')
if is_read and stored.id and stored.id ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if ARGV[4] == '' then redis.call('HDEL', KEYS[2], ARGV[2]) else redis.call('HSET', KEYS[2], ARGV[2], ARGV[4]) end
return 1
