-- Writes a delivery's record if it is still what the writer read: a process that lost the delivery writes nothing.
-- KEYS[1] record: the delivery's
-- KEYS[2] index: the tenant's deliveries
-- KEYS[3] due: the shard's deliveries that are not done
-- KEYS[4] tenants: the shard's tenants that are not active
-- ARGV[1] expected: the record as it was read, empty for none
-- ARGV[2] next: the record as it will be, JSON
-- ARGV[3] retention: how long the record is kept after this, ms
-- ARGV[4] audit: when its job is checked, ms since the epoch; empty when it is done
-- RETURNS 1 when it was written, or was before by the same call; 0 when another process changed it; -1 when its tenant has ended
-- include: tenant-state
local stored = redis.call('GET', KEYS[1])
if stored == ARGV[2] then return 1 end -- The reply to the first try was lost.
if (stored or '') ~= ARGV[1] then return 0 end
local delivery = cjson.decode(ARGV[2])
if not stored and closed_state(KEYS[4], delivery.tenant) == 'ended' then return -1 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
local before = stored and cjson.decode(stored).status
if before ~= delivery.status then
  if before then redis.call('ZREM', KEYS[2], 'status=' .. before .. '/' .. delivery.id) end
  redis.call('ZADD', KEYS[2], 0, 'all/' .. delivery.id, 0, 'kind=' .. delivery.kind .. '/' .. delivery.id,
    0, 'status=' .. delivery.status .. '/' .. delivery.id)
end
local member = delivery.tenant .. '/' .. delivery.id
if ARGV[4] == '' then redis.call('ZREM', KEYS[3], member) else redis.call('ZADD', KEYS[3], ARGV[4], member) end
return 1
