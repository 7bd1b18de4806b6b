-- Writes a tenant's own budget, or removes it.
-- KEYS[1] states: hash, tenants that are not active
-- KEYS[2] budgets: hash, the tenant's own budgets by id, JSON
-- KEYS[3] versions: hash, how often the budgets of a tenant were changed
-- ARGV[1] tenant: text, its id
-- ARGV[2] id: text, the budget's
-- ARGV[3] budget: JSON, or empty to remove it
-- ARGV[4] max: int, budgets that a tenant may have
-- ARGV[5] only-new: 1 to replace none, else 0
-- RETURNS 'new' | 'replaced' | 'removed' | 'unknown' | 'known' when none may be replaced | 'full' | 'ended'
-- include: tenant-state
if closed_state(KEYS[1], ARGV[1]) == 'ended' then return 'ended' end
local is_known = redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1
if ARGV[3] == '' then
  if not is_known then return 'unknown' end
  redis.call('HDEL', KEYS[2], ARGV[2])
else
  if is_known and ARGV[5] == '1' then return 'known' end
  if not is_known and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) then return 'full' end
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
end
redis.call('HINCRBY', KEYS[3], ARGV[1], 1)
if ARGV[3] == '' then return 'removed' end
return is_known and 'replaced' or 'new'
