-- Counts what an attempt has used so far among the tokens of its root and all that descends from it. Counts once, also when it is repeated.
-- KEYS[1] tree: hash, of one root task: `tokens` of it and all that descends from it, and `used:<id>:<token>`, what of them an attempt used
-- ARGV[1] attempt: text, `<id>:<token>`
-- ARGV[2] used: int, tokens in and out since the attempt's begin
-- ARGV[3] keep: int, ms that the count is kept after this
-- RETURNS tokens of all of them
local field = 'used:' .. ARGV[1]
local before = tonumber(redis.call('HGET', KEYS[1], field) or 0)
redis.call('HSET', KEYS[1], field, ARGV[2])
local all = redis.call('HINCRBY', KEYS[1], 'tokens', string.format('%.0f', ARGV[2] - before))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return all
