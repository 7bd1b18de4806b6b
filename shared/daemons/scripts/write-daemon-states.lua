-- Writes what a hub knows of the daemons that are connected to it, by Redis's clock.
-- KEYS[1] live: hash, `<tenant>/<id>` -> `<beat, ms> <connection, or -> <JSON>`
-- KEYS[2...] per daemon: hash, the daemons of its tenant by id
-- ARGV[1...] per daemon: `<tenant>/<id> <connection> <1 for the first time, else 0> <how long a beat is valid, ms> <JSON>`
-- RETURNS {ms now, a word per daemon}: 'connected' when it was offline | 'written' | 'taken-over' by a newer connection | 'unknown' when it is not registered
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local daemons = { unpack(KEYS, 2) }
local words = {}
for position, entry in ipairs({ unpack(ARGV, 1) }) do
  local field, connection, is_first, valid, json = string.match(entry, '^(%S+) (%S+) (%d) (%d+) (.*)$')
  local stored = redis.call('HGET', KEYS[1], field)
  local beat, holder = string.match(stored or '', '^(%d+) (%S+) ')
  local is_online = beat and holder ~= '-' and now - tonumber(beat) < tonumber(valid)
  if redis.call('HEXISTS', daemons[position], string.match(field, '[^/]+$')) == 0 then
    words[position] = 'unknown'
  elseif is_online and is_first == '0' and holder ~= connection then
    words[position] = 'taken-over'
  else
    redis.call('HSET', KEYS[1], field, string.format('%d %s %s', now, connection, json))
    words[position] = is_online and 'written' or 'connected'
  end
end
return { now, words }
