-- Drops parts that became messages, and remembers them for when they come again.
-- KEYS[1] parts: the session's parts, by key
-- KEYS[2] batch: the parts that are being accepted, a JSON list
-- KEYS[3] taken: parts and albums of the session that became messages, by when they are forgotten, ms
-- KEYS[4] due: sessions with parts, by when these are due, ms
-- ARGV[1] session: its id
-- ARGV[2] batch: as it was claimed
-- ARGV[3] keys: of its parts, a JSON list
-- ARGV[4] names: JSON, by name of a part or an album how long it is remembered, ms
-- ARGV[5] keepMs: the longest of these
-- RETURNS 1; 0 when another process did it
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('DEL', KEYS[2])
for _, key in ipairs(cjson.decode(ARGV[3])) do redis.call('HDEL', KEYS[1], key) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
for name, ms in pairs(cjson.decode(ARGV[4])) do redis.call('ZADD', KEYS[3], now + ms, name) end
redis.call('PEXPIRE', KEYS[3], ARGV[5])
if redis.call('HLEN', KEYS[1]) == 0 then redis.call('ZREM', KEYS[4], ARGV[1]) else redis.call('ZADD', KEYS[4], now, ARGV[1]) end
return 1
