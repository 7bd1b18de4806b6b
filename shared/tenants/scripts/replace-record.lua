-- Writes a record of a tenant in another form if it is still what the writer read.
-- KEYS[1] records: hash, records by id; or the one record, as text
-- ARGV[1] id: text, of the record in the hash; empty where it is the key
-- ARGV[2] seen: text, the record as it was read
-- ARGV[3] record: text, what it becomes
-- RETURNS 1 when it was written, else 0
if ARGV[1] == '' then
  if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end
  redis.call('SET', KEYS[1], ARGV[3], 'KEEPTTL')
  return 1
end
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
