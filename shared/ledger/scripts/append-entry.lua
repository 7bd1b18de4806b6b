-- Appends to a stream of a task, its output or its log, if the attempt still holds its lease.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] stream: stream, output of the task, or log and progress
-- ARGV[1] member: text, the attempt's lease member
-- ARGV[2] trim: `=` or `~`: whether the stream has at most `max` entries, or about so many
-- ARGV[3] max: int, entries of the stream
-- ARGV[4] retention: int, ms from now
-- ARGV[5] channel: text, where readers listen
-- ARGV[6] hint: text, published there
-- ARGV[7...] per field: one field of the entry
--   name: text
--   value: text
-- RETURNS 1, or 0 when the lease is gone
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[2], ARGV[3], '*', unpack(ARGV, 7))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 1
