-- Keeps what a run left for the next one, as long as its attempt holds its lease. What was kept before is no file of its task any more.
-- KEYS[1] kept: hash, by agent what its last run left, JSON
-- KEYS[2] files: hash, the tenant's files by id, JSON
-- KEYS[3] owners: zset, scores 0, `<file>/<task>`
-- KEYS[4] due: zset, the shard's files by their next check, ms
-- KEYS[5] leases: zset, running attempts of the shard by the end of their lease, ms
-- ARGV[1] options: JSON, tenant, agent, lease (its member) and keepMs
-- ARGV[2] entry: JSON, with `file` and `task`
-- RETURNS {'kept', id of the file that was kept before, or ''} | {'stale'} | {'gone'}
local options, entry = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
if not redis.call('ZSCORE', KEYS[5], options.lease) then return { 'stale' } end
if redis.call('HEXISTS', KEYS[2], entry.file) == 0 then return { 'gone' } end

local former = redis.call('HGET', KEYS[1], options.agent)
former = former and cjson.decode(former)
-- The client sends a call again when its reply was lost.
if former and former.file == entry.file then return { 'kept', '' } end
if former then
  redis.call('ZREM', KEYS[3], former.file .. '/' .. former.task)
  redis.call('ZADD', KEYS[4], 0, options.tenant .. '/' .. former.file)
end
redis.call('HSET', KEYS[1], options.agent, ARGV[2])
redis.call('PEXPIRE', KEYS[1], options.keepMs)
redis.call('ZADD', KEYS[3], 0, entry.file .. '/' .. entry.task)
return { 'kept', former and former.file or '' }
