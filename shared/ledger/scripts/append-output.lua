-- Appends to a task's output, if the attempt still holds its lease: an attempt that lost it writes nothing.
-- KEYS[1] leases: the shard's running attempts
-- KEYS[2] output: the task's output stream
-- ARGV[1] member: the attempt's lease
-- ARGV[2] attempt: its number
-- ARGV[3] seq: of this entry, from 1 in each attempt
-- ARGV[4] text: what was written
-- ARGV[5] most: entries of the stream
-- ARGV[6] keep: how long the stream is kept after this, ms
-- ARGV[7] channel: where readers listen
-- ARGV[8] hint: what to tell them
-- RETURNS 1, or 0 when the lease is gone
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', 'attempt', ARGV[2], 'seq', ARGV[3], 'text', ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1
