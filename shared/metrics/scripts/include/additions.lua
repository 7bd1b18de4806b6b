-- Iterates over KEYS or ARGV of a call for many hashes, from position `from` on.
local function iterate(values, from)
  local position = from - 1
  return function()
    position = position + 1
    return values[position]
  end
end

-- Makes additions to hashes one after the other: `add(key, is_wanted)` reads its other arguments, and writes where the tenant has not
-- ended. Returns how many were made.
local function add_all(states, keys, next_arg, add)
  local has_states, made = redis.call('EXISTS', states) == 1, 0
  for key in keys do
    local tenant = next_arg()
    local is_ended = has_states and redis.call('HGET', states, tenant) == 'ended'
    add(key, not is_ended)
    if not is_ended then made = made + 1 end
  end
  return made
end
