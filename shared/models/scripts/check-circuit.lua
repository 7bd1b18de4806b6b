-- Says which of the tasks that a circuit holds may start now, and when to check it again.
-- KEYS[1] circuits: hash, the tenant's circuits by name, JSON
-- KEYS[2] due: zset, circuits of the shard by their next check, ms
-- ARGV[1] member: text, tenant and name in the second key
-- ARGV[2] name: text, of the circuit
-- ARGV[3] held: int, tasks that it holds
-- ARGV[4] probe: int, ms until another task may start after the one that tries it
-- ARGV[5] retention: int, ms that failures count after the last one
-- ARGV[6] grace: int, ms that a closed circuit is checked for
-- RETURNS 'all', 'one' or 'none'
-- include: circuit
local circuit, held = read_circuit(KEYS[1], ARGV[2]), tonumber(ARGV[3])
local lasts = circuit and (circuit.probeAt or circuit.failures > 0) and ARGV[5] or ARGV[6]

local function again(at)
  redis.call('ZADD', KEYS[2], at, ARGV[1])
end

if held == 0 and (not circuit or circuit.lastAt + lasts <= now) then
  redis.call('HDEL', KEYS[1], ARGV[2])
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 'none'
end
if not circuit or not circuit.probeAt then
  again(held > 0 and now or circuit.lastAt + lasts)
  return held > 0 and 'all' or 'none'
end
if circuit.probeAt > now or held == 0 then
  again(math.max(circuit.probeAt, now + ARGV[4]))
  return 'none'
end
again(now + ARGV[4])
return 'one'
