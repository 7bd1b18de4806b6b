-- The circuit of an agent and an endpoint: how many calls failed in a row, and, once it is open, when the next one may try again.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function read_circuit(circuits, name)
  local stored = redis.call('HGET', circuits, name)
  return stored and cjson.decode(stored)
end

local function int(value) return string.format('%d', value) end
