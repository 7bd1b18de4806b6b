-- Counts the end of a call for the circuit of its agent and endpoint: opens it after so many failures in a row, closes it after an answer.
-- KEYS[1] circuits: hash, the tenant's circuits by name, JSON
-- KEYS[2] due: zset, circuits of the shard by their next check, ms
-- KEYS[3] events: stream, the tenant's events
-- ARGV[1] options: JSON, tenant, channel, maxEvents, failures, openMs, maxOpenMs, retentionMs and maxRecords
-- ARGV[2] name: text, of the circuit
-- ARGV[3] caller: text, the attempt that called
-- ARGV[4] reason: text, of the failure, or empty for an answer
-- ARGV[5] about: JSON, agent and endpoint, for the event
-- RETURNS 'opened', 'closed', or empty
-- include: circuit
local options, name, reason = cjson.decode(ARGV[1]), ARGV[2], ARGV[4]
local member = options.tenant .. '/' .. name
local circuit = read_circuit(KEYS[1], name)

local function publish(event, facts)
  local about = cjson.decode(ARGV[5])
  for key, value in pairs(facts) do about[key] = value end
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'about', cjson.encode(about))
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end

local function save(due)
  redis.call('HSET', KEYS[1], name, cjson.encode(circuit))
  redis.call('ZADD', KEYS[2], due, member)
end

if reason == '' then
  if not circuit or circuit.failures == 0 then return '' end
  local was_open = circuit.openedAt
  if was_open then publish('circuit.closed', { failures = circuit.failures }) end
  -- Kept for a moment, because attempts that this circuit refused may not be held yet.
  circuit = { failures = 0, lastAt = now }
  save(now)
  return was_open and 'closed' or ''
end

if not circuit then
  if redis.call('HLEN', KEYS[1]) >= options.maxRecords then return '' end
  circuit = { failures = 0 }
end
-- An answer to a call from before it opened does not delay the next try.
local is_late = circuit.openedAt and circuit.probe ~= ARGV[3]
circuit.failures, circuit.lastAt, circuit.reason = circuit.failures + 1, now, reason
if is_late or circuit.failures < options.failures then
  save(circuit.probeAt or now + options.retentionMs)
  return ''
end
local opens = not circuit.openedAt
circuit.openMs = opens and options.openMs or math.min(circuit.openMs * 2, options.maxOpenMs)
circuit.openedAt, circuit.probeAt, circuit.probe = circuit.openedAt or now, now + circuit.openMs, nil
save(circuit.probeAt)
if opens then publish('circuit.opened', { failures = circuit.failures, reason = reason }) end
return opens and 'opened' or ''
