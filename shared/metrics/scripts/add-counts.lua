-- Adds what a process counted to a hash of counters.
-- KEYS[1] counts: hash, counters by field
-- KEYS[2] states: hash, tenants that are disabled or ended
-- ARGV[1] tenant: text, whose counters these are, or empty for the fleet's
-- ARGV[2] keep: int, ms after the last addition, or 0 for good
-- ARGV[3] counts: JSON object, what to add by field, int; to a field that ends in `|max`, the greatest so far
-- RETURNS 1, or 0 for a tenant that has ended
if redis.call('HGET', KEYS[2], ARGV[1]) == 'ended' then return 0 end
for field, by in pairs(cjson.decode(ARGV[3])) do
  if string.sub(field, -4) ~= '|max' then
    redis.call('HINCRBY', KEYS[1], field, string.format('%d', by))
  elseif by > tonumber(redis.call('HGET', KEYS[1], field) or 0) then
    redis.call('HSET', KEYS[1], field, string.format('%d', by))
  end
end
if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
