-- Counts what a run used while no attempt of it ran, once.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] journal: hash, entries of the task's journal by number, JSON, and `used:<number>` of those that were counted here
-- KEYS[3] usage_day: hash, what the tenant's agents used this day by row
-- ARGV[1] id: text, the task's id
-- ARGV[2] entry: int, the number of the entry
-- ARGV[3] seen: text, the task's state as the caller knows it
-- ARGV[4] next: text, what the state becomes; empty where it stays
-- ARGV[5] written: text, the entry as the caller knows it; empty for none
-- ARGV[6] ended: JSON, what the entry becomes; empty where it stays
-- ARGV[7] rows: JSON, see `count-usage.lua`
-- ARGV[8] bounds: JSON, how much is kept of a day
-- RETURNS 'added' | 'known' | 'changed'; changed: the state or the entry is another one
-- include: count-usage
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 'changed' end
if (redis.call('HGET', KEYS[2], ARGV[2]) or '') ~= ARGV[5] then return 'changed' end
if redis.call('HSETNX', KEYS[2], 'used:' .. ARGV[2], '1') == 0 then return 'known' end
count_usage(KEYS[3], cjson.decode(ARGV[7]), cjson.decode(ARGV[8]))
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], ARGV[1], ARGV[4]) end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[2], ARGV[2], ARGV[6]) end
return 'added'
