-- Counts a file of a tenant before its bytes are stored, when it fits.
-- KEYS[1] files: hash, the tenant's files by id, JSON
-- KEYS[2] totals: hash, `files` and `bytes` of all of them
-- KEYS[3] due: zset, the shard's files by their next check, ms
-- KEYS[4] tenant-states: hash, tenants of the shard that are not active
-- ARGV[1] options: JSON, tenant, maxFiles, maxBytes and keepMs
-- ARGV[2] id: text, of the file
-- ARGV[3] bytes: int, its size
-- ARGV[4] record: JSON
-- RETURNS {'added', when it is checked first, ms} | {'full', files, bytes} | {'closed', state of the tenant}
-- include: tenant-state
local options, id, bytes = cjson.decode(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local closed = closed_state(KEYS[4], options.tenant)
if closed then return { 'closed', closed } end
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + options.keepMs
-- The client sends a call again when its reply was lost.
if redis.call('HEXISTS', KEYS[1], id) == 0 then
  local files = tonumber(redis.call('HGET', KEYS[2], 'files') or 0)
  local total = tonumber(redis.call('HGET', KEYS[2], 'bytes') or 0)
  if files + 1 > options.maxFiles or total + bytes > options.maxBytes then
    return { 'full', files, string.format('%.0f', total) }
  end
  redis.call('HSET', KEYS[1], id, ARGV[4])
  redis.call('HINCRBY', KEYS[2], 'files', 1)
  redis.call('HINCRBY', KEYS[2], 'bytes', bytes)
end
redis.call('ZADD', KEYS[3], string.format('%.0f', due), options.tenant .. '/' .. id)
return { 'added', string.format('%.0f', due) }
