-- Fixes which parts of a session become messages now, so that each process that tries makes the same messages of them.
-- KEYS[1] parts: the session's parts, by key
-- KEYS[2] batch: the parts that are being accepted, a JSON list
-- KEYS[3] due: sessions with parts, by when these are due, ms
-- ARGV[1] session: its id
-- ARGV[2] leaseMs: ms until another process may claim them again
-- ARGV[3] isForced: `1` claims them before they are due
-- ARGV[4] keepMs: ms, bound of how long the batch is kept
-- RETURNS the batch; nil for none
local at = redis.call('ZSCORE', KEYS[3], ARGV[1])
if not at then return nil end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if ARGV[3] ~= '1' and tonumber(at) > now then return nil end
local batch = redis.call('GET', KEYS[2])
if not batch then
  local parts = redis.call('HVALS', KEYS[1])
  if #parts == 0 then
    redis.call('ZREM', KEYS[3], ARGV[1])
    return nil
  end
  batch = '[' .. table.concat(parts, ',') .. ']'
  redis.call('SET', KEYS[2], batch, 'PX', ARGV[4])
end
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[2]), ARGV[1])
return batch
