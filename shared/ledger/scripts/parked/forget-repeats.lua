-- Forgets how often an input came in a row, so that it is held no more. Tasks that it holds are released afterwards.
-- KEYS[1] repeats: string, equal inputs in a row to an agent by one source, JSON; see repeats.lua
-- ARGV[1] digest: text, of the input
-- RETURNS 1, or 0 when it was not held
local text = redis.call('GET', KEYS[1])
local record = text and cjson.decode(text)
if not record or not record.held[ARGV[1]] then return 0 end
record.held[ARGV[1]] = nil
if record.digest == ARGV[1] then record.digest, record.count = '', 0 end
redis.call('SET', KEYS[1], cjson.encode(record), 'KEEPTTL')
return 1
