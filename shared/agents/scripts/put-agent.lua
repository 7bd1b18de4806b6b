-- Makes or replaces an agent of a tenant, with how many of its tasks run at once, when the stored one is the expected one.
-- KEYS[1] states: hash, tenants of the shard that are not active
-- KEYS[2] agents: hash, the tenant's own agents by id, JSON
-- KEYS[3] caps: hash, how many tasks of such agents run at once by tenant and agent, 0 for no bound any more
-- ARGV[1] tenant: text, its id
-- ARGV[2] id: text, the agent's
-- ARGV[3] definition: JSON
-- ARGV[4] cap: int, or empty for no bound
-- ARGV[5] former: JSON that has to be stored so far, empty where nothing may be, or * for anything
-- RETURNS {'written', 1 for a new agent, else 0} | {'ended'} | {'changed'} when something else is stored
-- include: tenant-state
if closed_state(KEYS[1], ARGV[1]) == 'ended' then return { 'ended' } end
local field = ARGV[1] .. '/' .. ARGV[2]
local former = redis.call('HGET', KEYS[2], ARGV[2])
if ARGV[5] ~= '*' and (former or '') ~= ARGV[5] then return { 'changed' } end
local is_new = redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[3], field, ARGV[4])
elseif redis.call('HEXISTS', KEYS[3], field) == 1 or former and string.find(former, '"maxRunning"', 1, true) then
  -- Tasks that were accepted with a bound wait for it.
  redis.call('HSET', KEYS[3], field, '0')
end
return { 'written', is_new }
