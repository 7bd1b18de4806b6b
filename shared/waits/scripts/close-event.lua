-- Ends the sending of an event: how many runs it resumed is what its sender is told, also when it sends it again.
-- KEYS[1] event: hash, the event
-- KEYS[2] kept: zset, the tenant's events that are kept by ms
-- KEYS[3] names: zset, the same by name
-- KEYS[4] sent: text, how many runs it resumed when it was sent
-- KEYS[5] open: zset, events of the shard that are being sent, by ms
-- ARGV[1] member: of the event in `open`
-- ARGV[2] name: the event's, as it stands in the members of `names`
-- ARGV[3] id: of the event
-- ARGV[4] keep: int, ms for which it is kept
-- ARGV[5] remember: int, ms for which `sent` is kept
-- RETURNS how many runs it resumed when it was sent
local taken, deliver, at = unpack(redis.call('HMGET', KEYS[1], 'taken', 'deliver', 'at'))
redis.call('SET', KEYS[4], taken or '0', 'NX', 'PX', ARGV[5])
redis.call('ZREM', KEYS[5], ARGV[1])
if deliver == 'one' and taken then
  local member = ARGV[2] .. '/' .. string.format('%013.0f', at) .. '/' .. ARGV[3]
  redis.call('ZREM', KEYS[2], member)
  redis.call('ZREM', KEYS[3], member)
  redis.call('DEL', KEYS[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return redis.call('GET', KEYS[4])
