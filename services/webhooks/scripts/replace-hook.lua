-- Writes a hook unless it was changed or removed since it was read.
-- KEYS[1] hooks: the tenant's
-- KEYS[2] states: tenants that are not active
-- ARGV[1] tenant: its id
-- ARGV[2] id: of the hook
-- ARGV[3] seen: the record as it was read
-- ARGV[4] record: what it becomes
-- RETURNS 'written' | 'changed' | 'ended', the tenant
-- include: tenant-state
if closed_state(KEYS[2], ARGV[1]) == 'ended' then return 'ended' end
if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 'changed' end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
return 'written'
