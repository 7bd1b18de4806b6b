-- Gives files to a task that is about to be accepted: all of them, or none when one is not there.
-- KEYS[1] files: hash, the tenant's files by id, JSON
-- KEYS[2] owners: zset, scores 0, `<file>/<task>`
-- KEYS[3] due: zset, the shard's files by their next check, ms
-- ARGV[1] options: JSON, tenant, task and graceMs, within which the task is accepted
-- ARGV[2...] per file: its id
-- RETURNS {'bound', record, ...} | {'unknown', id}
local options, files = cjson.decode(ARGV[1]), { unpack(ARGV, 2) }
local records = { 'bound' }
for place, file in ipairs(files) do
  local record = redis.call('HGET', KEYS[1], file)
  if not record then return { 'unknown', file } end
  records[place + 1] = record
end
local time = redis.call('TIME')
local due = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + options.graceMs)
for _, file in ipairs(files) do
  redis.call('ZADD', KEYS[2], 0, file .. '/' .. options.task)
  -- No check before the task is there: it would take its files for unused.
  redis.call('ZADD', KEYS[3], 'GT', due, options.tenant .. '/' .. file)
end
return records
