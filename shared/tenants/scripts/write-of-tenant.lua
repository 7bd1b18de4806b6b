-- Writes one key that belongs to a tenant, unless the tenant has ended.
-- KEYS[1] states: tenants that are not active
-- KEYS[2] key: what is written
-- ARGV[1] tenant: its id
-- ARGV[2] keep: how long the key is kept after this, ms, or empty
-- ARGV[3] command: that writes it
-- ARGV[4...] per argument: of the command, behind the key
-- RETURNS {'written', the command's reply} | {'ended'}
-- include: tenant-state
if closed_state(KEYS[1], ARGV[1]) == 'ended' then return { 'ended' } end
local reply = redis.call(ARGV[3], KEYS[2], unpack(ARGV, 4))
if ARGV[2] ~= '' then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return { 'written', reply }
