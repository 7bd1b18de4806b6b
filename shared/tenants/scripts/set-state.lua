-- Writes a tenant's state beside its keys; the end is final.
-- KEYS[1] states: tenants of the shard that are not active
-- ARGV[1] id: of the tenant
-- ARGV[2] state: `disabled`, `ended`, or empty while it is active
-- RETURNS 1, or 0 when it has ended
if redis.call('HGET', KEYS[1], ARGV[1]) == 'ended' then return 0 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
