-- Extends the leases of one worker's attempts, and tells it which it lost and which it must stop.
-- KEYS[1] leases: the shard's running attempts
-- KEYS[2] signals: the shard's stops that no worker has answered yet
-- ARGV[1] lease: ms
-- ARGV[2] members: JSON array of `<tenant>/<task>/<token>`
-- RETURNS per member: 'held' | 'lost' | the stop as JSON; a lease under a stop is not extended, so that its grace ends
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local answers = {}
for position, member in ipairs(cjson.decode(ARGV[2])) do
  if not redis.call('ZSCORE', KEYS[1], member) then
    answers[position] = 'lost'
  else
    local stop = redis.call('HGET', KEYS[2], member)
    if not stop then redis.call('ZADD', KEYS[1], until_ms, member) end
    answers[position] = stop or 'held'
  end
end
return answers
