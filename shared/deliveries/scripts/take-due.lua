-- Takes deliveries whose job has to be looked up now, and puts their next look off, so that of several processes one looks.
-- KEYS[1] due: the shard's deliveries that are not done
-- ARGV[1] now: milliseconds
-- ARGV[2] next: when they are looked at again, ms
-- ARGV[3] most: how many
-- RETURNS their names, `<tenant>/<delivery>`
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(members) do redis.call('ZADD', KEYS[1], ARGV[2], member) end
return members
