-- Writes what a hub knows of the daemons that are connected to it, by Redis's clock, with one read per tenant and one write.
-- KEYS[1] live: hash, `<tenant>/<id>` -> `<beat, ms> <connection, or -> <JSON>`
-- KEYS[2...] per daemon: hash, the daemons of its tenant by id
-- ARGV[1...] per daemon: `<tenant>/<id> <connection> <1 for the first time, else 0> <how long a beat is valid, ms> <JSON>`
-- RETURNS {ms now, a word per daemon}: 'connected' when it was offline | 'written' | 'taken-over' by a newer connection | 'unknown' when it is not registered
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local daemons, beats = { unpack(KEYS, 2) }, { unpack(ARGV, 1) }
local fields, tenants, places = {}, {}, {}
for position, entry in ipairs(beats) do
  local field = string.match(entry, '^%S+')
  local place = daemons[position]
  fields[position] = field
  if not tenants[place] then tenants[place] = { ids = {}, positions = {} }; places[#places + 1] = place end
  table.insert(tenants[place].ids, string.match(field, '[^/]+$'))
  table.insert(tenants[place].positions, position)
end
local is_registered = {}
for _, place in ipairs(places) do
  local tenant = tenants[place]
  for index, record in ipairs(redis.call('HMGET', place, unpack(tenant.ids))) do
    is_registered[tenant.positions[index]] = record and true or false
  end
end
local words, written = {}, {}
for position, stored in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
  local connection, is_first, valid, json = string.match(beats[position], '^%S+ (%S+) (%d) (%d+) (.*)$')
  local beat, holder = string.match(stored or '', '^(%d+) (%S+) ')
  local is_online = beat and holder ~= '-' and now - tonumber(beat) < tonumber(valid)
  if not is_registered[position] then
    words[position] = 'unknown'
  elseif is_online and is_first == '0' and holder ~= connection then
    words[position] = 'taken-over'
  else
    table.insert(written, fields[position])
    table.insert(written, string.format('%d %s %s', now, connection, json))
    words[position] = is_online and 'written' or 'connected'
  end
end
if #written > 0 then redis.call('HSET', KEYS[1], unpack(written)) end
return { now, words }
