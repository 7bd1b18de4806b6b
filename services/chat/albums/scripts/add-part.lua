-- Keeps a part of an album until the album is complete.
-- KEYS[1] parts: the session's parts, by key
-- KEYS[2] taken: parts and albums of the session that became messages, by when they are forgotten, ms
-- KEYS[3] due: sessions with parts, by when these are due, ms
-- ARGV[1] session: its id
-- ARGV[2] part: its key
-- ARGV[3] json: the part
-- ARGV[4] album: its name when a part may come late, else empty
-- ARGV[5] waitMs: how long the next part is waited for
-- ARGV[6] maxParts: with so many nothing more is waited for
-- ARGV[7] keepMs: ms, bound of how long the parts are kept
-- RETURNS `gathering`; `known` for a part that became a message; `late` for a part of an album that did
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function isTaken(name)
  local untilMs = redis.call('ZSCORE', KEYS[2], name)
  return untilMs and tonumber(untilMs) > now
end
if isTaken('part/' .. ARGV[2]) then return 'known' end
if ARGV[4] ~= '' and isTaken('album/' .. ARGV[4]) then return 'late' end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
local isFull = redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6])
redis.call('ZADD', KEYS[3], isFull and now or now + tonumber(ARGV[5]), ARGV[1])
return 'gathering'
