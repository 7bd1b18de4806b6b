-- Says how many of the tasks that a budget holds may start now, because its window has room. What ended attempts have left reserved goes first.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] reservations: hash, open calls of the tenant by `call:<id>`, JSON, and what they reserve in sum by `sum:<window>`
-- KEYS[3] spent: hash, what was spent in the window
-- KEYS[4] refused: hash, what the budget refused
-- ARGV[1] name: text, of the window
-- ARGV[2] line: int, its hard line
-- ARGV[3] max: int, tasks that start at once where nobody knows how much they need
-- RETURNS their number, or -1 when none does because no call that goes on may leave them any
-- include: reservations
-- include: room
local line = tonumber(ARGV[2])
local spent = tonumber(redis.call('HGET', KEYS[3], 'spent') or 0)
if spent >= line then return -1 end
release_ended(KEYS[2], KEYS[1], redis.call('HGETALL', KEYS[2]))
local reserved = tonumber(redis.call('HGET', KEYS[2], 'sum:' .. ARGV[1]) or 0)
local count = grant_room(KEYS[4], line - spent - reserved, reserved)
if count then return math.min(count, tonumber(ARGV[3])) end
-- Those that need any room may start, and others whose needs were forgotten.
if redis.call('HDEL', KEYS[4], 'any') == 1 or redis.call('HEXISTS', KEYS[4], 'least') == 0 then return tonumber(ARGV[3]) end
return is_over(KEYS[4], line - spent - reserved, reserved) and -1 or 0
