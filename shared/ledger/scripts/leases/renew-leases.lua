-- Extends the leases of one worker's attempts. A lease under a stop is not extended, so that its grace ends; one whose task is to make
-- room is, because its worker has a grace of its own.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] signals: hash, unanswered stops of the shard by lease member, JSON
-- ARGV[1] lease: int, ms
-- ARGV[2] members: JSON, array of lease members, `<tenant>/<id>/<token>`
-- RETURNS per member 'held' | 'lost' | the stop, or why it is to make room, JSON
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local has_signals, answers = redis.call('EXISTS', KEYS[2]) == 1, {}
for position, member in ipairs(cjson.decode(ARGV[2])) do
  if not redis.call('ZSCORE', KEYS[1], member) then
    answers[position] = 'lost'
  else
    local stop = has_signals and redis.call('HGET', KEYS[2], member)
    if not stop then redis.call('ZADD', KEYS[1], until_ms, member) end
    answers[position] = stop or has_signals and redis.call('HGET', KEYS[2], member .. '/preempt') or 'held'
  end
end
return answers
