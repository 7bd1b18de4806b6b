-- Writes what one of several calls of a suspended run gave into its journal, while the run waits for the others. Repeated, it changes nothing.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] journal: hash, entries of the task's journal by number, JSON; `done`: how many have ended
-- ARGV[1] id: text, the task's id
-- ARGV[2] entry: int, the number of the call's entry
-- ARGV[3] seen: text, the task's state as the caller knows it
-- ARGV[4] written: text, the entry as the caller knows it
-- ARGV[5] ended: JSON, what the entry becomes
-- ARGV[6] done: int, entries that end by it: 0 for the one that the run is suspended at, which whoever resumes it counts
-- RETURNS 'written' | 'changed'; changed: the state or the entry is another one
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 'changed' end
if redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[4] then return 'changed' end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[5])
redis.call('HINCRBY', KEYS[2], 'done', ARGV[6])
return 'written'
