-- Releases the trial of an open circuit, so that another call may try at once.
-- KEYS[1] circuits: hash, the tenant's circuits by name, JSON
-- KEYS[2] due: zset, circuits of the shard by their next check, ms
-- ARGV[1] member: text, tenant and name in the second key
-- ARGV[2] name: text, of the circuit
-- ARGV[3] caller: text, the attempt that called
-- RETURNS 1, or 0 when another call tries it
-- include: circuit
local circuit = read_circuit(KEYS[1], ARGV[2])
if not circuit or circuit.probe ~= ARGV[3] then return 0 end
circuit.probe, circuit.probeAt = nil, now
redis.call('HSET', KEYS[1], ARGV[2], cjson.encode(circuit))
redis.call('ZADD', KEYS[2], now, ARGV[1])
return 1
