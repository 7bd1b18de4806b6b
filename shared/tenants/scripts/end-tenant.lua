-- Ends a tenant: its name is free, nothing is accepted for it any more, and what it owned is to be removed.
-- KEYS[1] tenants: by name
-- KEYS[2] states: tenants that are not active
-- KEYS[3] ended: tenants -> when they ended, ms
-- KEYS[4] clean: tenants of which something may be left -> when to look, ms
-- KEYS[5] generations: of the last tenant of each name that ended
-- ARGV[1] name: of the tenant
-- ARGV[2] id: of the tenant
-- ARGV[3] generation: its number
-- ARGV[4] now: ms
-- RETURNS 1, or 0 when it had ended already
if redis.call('ZADD', KEYS[3], 'NX', ARGV[4], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[2], 'ended')
redis.call('HSET', KEYS[5], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
