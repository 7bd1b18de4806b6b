-- Writes the secrets that sign a tenant's callbacks if they are still what the writer read: of two changes at once none is lost.
-- KEYS[1] secrets: the tenant's
-- KEYS[2] states: tenants that are not active
-- ARGV[1] tenant: its id
-- ARGV[2] seen: the record as it was read, empty for none
-- ARGV[3] record: what it becomes
-- RETURNS 'written', also for a repeated call | 'changed' by another process | 'ended', the tenant
-- include: tenant-state
if closed_state(KEYS[2], ARGV[1]) == 'ended' then return 'ended' end
local stored = redis.call('GET', KEYS[1]) or ''
if stored == ARGV[3] then return 'written' end -- The reply to the first try was lost.
if stored ~= ARGV[2] then return 'changed' end
redis.call('SET', KEYS[1], ARGV[3])
return 'written'
