-- Appends to a task's output, if the attempt still holds its lease.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] output: stream, output of the task
-- ARGV[1] member: text, the attempt's lease member
-- ARGV[2] attempt: int, its number
-- ARGV[3] seq: int, of this entry, from 1 in each attempt
-- ARGV[4] text: text, what was written
-- ARGV[5] max: int, entries of the stream
-- ARGV[6] retention: int, ms from now
-- ARGV[7] channel: text, where readers listen
-- ARGV[8] hint: text, published there
-- RETURNS 1, or 0 when the lease is gone
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', 'attempt', ARGV[2], 'seq', ARGV[3], 'text', ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1
