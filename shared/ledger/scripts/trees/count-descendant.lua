-- Counts a task that is about to be accepted among the descendants of its root.
-- KEYS[1] tree: hash, of one root task: `tasks` that descend from it, and `cut`, why no more are accepted
-- ARGV[1] max: int, descendants that a root may have
-- ARGV[2] keep: int, ms that the count is kept after this
-- RETURNS {'counted'} | {'full'} | {'cut', reason}
local cut = redis.call('HGET', KEYS[1], 'cut')
if cut then return { 'cut', cut } end
local tasks = tonumber(redis.call('HGET', KEYS[1], 'tasks') or 0)
if tasks >= tonumber(ARGV[1]) then return { 'full' } end
redis.call('HSET', KEYS[1], 'tasks', tasks + 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 'counted' }
