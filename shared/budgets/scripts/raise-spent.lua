-- Raises what was spent in a window to what its tasks had cost before its budget was made. What counts already is never lowered.
-- KEYS[1] spent: hash, what was spent in the window
-- ARGV[1] amount: int, millionths of a US dollar
-- ARGV[2] keep: int, ms for which it is kept
-- RETURNS what is spent by now
local spent = math.max(tonumber(redis.call('HGET', KEYS[1], 'spent') or 0), tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'spent', string.format('%.0f', spent))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return string.format('%.0f', spent)
