-- Takes deliveries whose job is to be checked now, and puts off their next check, so that of several processes one checks.
-- KEYS[1] due: the shard's deliveries that are not done
-- ARGV[1] now: ms since the epoch
-- ARGV[2] next: when they are checked again, ms since the epoch
-- ARGV[3] limit: how many at most
-- RETURNS their names, `<tenant>/<delivery>`
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(members) do redis.call('ZADD', KEYS[1], ARGV[2], member) end
return members
