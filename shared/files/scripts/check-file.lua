-- Checks whether a task of a file is still kept; a file without any, or whose time is over, is no file of the tenant from here on. Its entry in `due` stays until
-- its bytes are removed, so that they are removed also after a crash in between.
-- KEYS[1] files: hash, the tenant's files by id, JSON
-- KEYS[2] totals: hash, `files` and `bytes` of all of them
-- KEYS[3] owners: zset, scores 0, `<file>/<task>`
-- KEYS[4] due: zset, the shard's files by their next check, ms
-- KEYS[5] bodies: hash, the tenant's tasks by id
-- ARGV[1] tenant: text, its id
-- ARGV[2] file: text, its id
-- ARGV[3] again: int, milliseconds until the next check
-- RETURNS {'kept' or 'removed', tasks that are gone, ...}
local tenant, file = ARGV[1], ARGV[2]
local start = file .. '/'
local owners = redis.call('ZRANGEBYLEX', KEYS[3], '[' .. start, '(' .. file .. '0')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local record = redis.call('HGET', KEYS[1], file)
record = record and cjson.decode(record)
local is_over = record and record['until'] and record['until'] <= now
local answer, left = { 'kept' }, 0
for _, member in ipairs(owners) do
  local task = string.sub(member, #start + 1)
  if redis.call('HEXISTS', KEYS[5], task) == 0 then
    redis.call('ZREM', KEYS[3], member)
    answer[#answer + 1] = task
  elseif is_over then
    redis.call('ZREM', KEYS[3], member)
  else
    left = left + 1
  end
end
redis.call('ZADD', KEYS[4], string.format('%.0f', now + ARGV[3]), tenant .. '/' .. file)
if left > 0 then return answer end
answer[1] = 'removed'
if not record then return answer end
redis.call('HDEL', KEYS[1], file)
-- Lua's minus of 0 is -0, which Redis refuses.
redis.call('HINCRBY', KEYS[2], 'bytes', 0 - record.bytes)
if redis.call('HINCRBY', KEYS[2], 'files', -1) <= 0 then redis.call('DEL', KEYS[2]) end
return answer
