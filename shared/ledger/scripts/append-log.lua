-- Appends to what a task's agent reports beside its output, if the attempt still holds its lease.
-- KEYS[1] leases: the shard's running attempts
-- KEYS[2] log: the task's log
-- ARGV[1] member: the attempt's lease
-- ARGV[2] entry: JSON
-- ARGV[3] max: entries of the log
-- ARGV[4] keep: how long the log is kept after this, ms
-- ARGV[5] channel: where readers listen
-- ARGV[6] hint: what to tell them
-- RETURNS 1, or 0 when the lease is gone
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[3], '*', 'entry', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 1
