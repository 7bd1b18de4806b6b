-- Moves requests that wait into a new batch, each into one.
-- KEYS[1] line: zset, requests of the group that wait, by ms
-- KEYS[2] requests: hash, JSON of each request, and `of:<request>`: its batch
-- KEYS[3] batches: zset, batches at providers by when to look at them, ms
-- KEYS[4] batch: hash, the new batch
-- ARGV[1] id: text, the batch's
-- ARGV[2] record: JSON, what the batch is made of
-- ARGV[3] look: int, when to look at it, ms
-- ARGV[4...] per request: its name
-- RETURNS how many it has; without any there is no batch
local taken = 0
for _, name in ipairs({ unpack(ARGV, 4) }) do
  if redis.call('ZREM', KEYS[1], name) == 1 then
    redis.call('HSET', KEYS[2], 'of:' .. name, ARGV[1])
    redis.call('HSET', KEYS[4], 'request:' .. name, '1')
    taken = taken + 1
  end
end
if taken > 0 then
  redis.call('HSET', KEYS[4], 'record', ARGV[2])
  redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
end
return taken
