-- Lists a stored file with a task, as long as the attempt that brings it holds its lease. A file of the same name is replaced.
-- KEYS[1] listing: hash, files of the task by `in/<place>`, `out/<name>` or `journal/<number>`, JSON
-- KEYS[2] files: hash, the tenant's files by id, JSON
-- KEYS[3] owners: zset, scores 0, `<file>/<task>`
-- KEYS[4] due: zset, the shard's files by their next check, ms
-- KEYS[5] leases: zset, running attempts of the shard by the end of their lease, ms
-- ARGV[1] options: JSON, tenant, task, lease (its member), maxFiles and maxBytes of this kind
-- ARGV[2] field: text, as in the listing
-- ARGV[3] entry: JSON, with `file` and `bytes`
-- RETURNS {'added'} | {'stale'} | {'full'} | {'gone'}
local options, field, entry = cjson.decode(ARGV[1]), ARGV[2], cjson.decode(ARGV[3])
if not redis.call('ZSCORE', KEYS[5], options.lease) then return { 'stale' } end
if redis.call('HEXISTS', KEYS[2], entry.file) == 0 then return { 'gone' } end

local kind = string.match(field, '^%a+/')
local files, bytes, replaced = 1, entry.bytes, nil
local all = redis.call('HGETALL', KEYS[1])
for place = 1, #all, 2 do
  local other = cjson.decode(all[place + 1])
  if all[place] == field then
    replaced = other.file
  elseif string.sub(all[place], 1, #kind) == kind then
    files, bytes = files + 1, bytes + other.bytes
  end
end
if files > options.maxFiles or bytes > options.maxBytes then return { 'full' } end
if replaced and replaced ~= entry.file then
  redis.call('ZREM', KEYS[3], replaced .. '/' .. options.task)
  redis.call('ZADD', KEYS[4], 0, options.tenant .. '/' .. replaced)
end
redis.call('HSET', KEYS[1], field, ARGV[3])
redis.call('ZADD', KEYS[3], 0, entry.file .. '/' .. options.task)
return { 'added' }
