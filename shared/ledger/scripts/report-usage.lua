-- Keeps what a running attempt has used so far, if it still holds its lease.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] running_usage: hash, what running attempts of the tenant have used by `<id>:<token>`, JSON
-- ARGV[1] member: text, the attempt's lease member
-- ARGV[2] field: text, `<id>:<token>`
-- ARGV[3] usage: JSON, see `RunningUsage` in `claim/report-usage.ts`
-- RETURNS 1, or 0 when the lease is gone
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1
