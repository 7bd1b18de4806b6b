-- Admits a call of an agent to an endpoint, unless its circuit is open: then one call at a time tries it again.
-- KEYS[1] circuits: hash, the tenant's circuits by name, JSON
-- ARGV[1] name: text, of the circuit
-- ARGV[2] caller: text, the attempt that wants to call
-- ARGV[3] probe: int, ms until another call may try after this one
-- RETURNS {'go'}, {'known'} when it may go and calls failed before, {'probe'} when this call tries it, or {'wait', until in ms, failures,
--   attempt that tries it now or empty, its failure}
-- include: circuit
local circuit = read_circuit(KEYS[1], ARGV[1])
if not circuit then return { 'go' } end
if not circuit.probeAt then return { 'known' } end
-- Another call of the attempt that tries it, or the first of a task that a person had retry: that one is named without its token.
local is_own = circuit.probe == ARGV[2] or circuit.probe == string.match(ARGV[2], '^(.*)/')
if circuit.probeAt > now and not is_own then
  return { 'wait', int(circuit.probeAt), int(circuit.failures), circuit.probe or '', circuit.reason }
end
circuit.probe, circuit.probeAt = ARGV[2], now + ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(circuit))
return { 'probe' }
