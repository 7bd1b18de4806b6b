-- Replaces a value that is still this process's own.
-- KEYS[1] command: what is remembered of it
-- ARGV[1] own: the value that this process wrote
-- ARGV[2] value: the next one; empty for none
-- ARGV[3] keepMs: how long it is kept
-- RETURNS 1; 0 when the value is another process's, or gone
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
