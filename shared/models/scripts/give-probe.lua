-- Gives the trial of an open circuit to a task that a person retries: its next call goes at once, and others wait for what comes of it.
-- KEYS[1] circuits: hash, the tenant's circuits by name, JSON
-- ARGV[1] name: text, of the circuit
-- ARGV[2] task: text, tenant and id of the task
-- ARGV[3] probe: int, ms until another call may try after this one
-- RETURNS 1, or 0 when the circuit is not open
-- include: circuit
local circuit = read_circuit(KEYS[1], ARGV[1])
if not circuit or not circuit.probeAt then return 0 end
circuit.probe, circuit.probeAt = ARGV[2], now + ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(circuit))
return 1
