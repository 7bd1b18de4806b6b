-- Open calls, and what they reserve in each window.

local function add_to_sum(reservations, name, change)
  if redis.call('HINCRBY', reservations, 'sum:' .. name, change) <= 0 then redis.call('HDEL', reservations, 'sum:' .. name) end
end

-- Whether who reserved it may still settle it: an attempt with its lease, or what runs without one until a time.
local function is_open(leases, lease)
  local until_ms = string.match(lease, '^until (%d+)$')
  if not until_ms then return redis.call('ZSCORE', leases, lease) end
  return tonumber(redis.call('TIME')[1]) * 1000 < tonumber(until_ms)
end

-- Releases what attempts reserved that have ended. `fields`: names and values of the hash, those of calls and others.
local function release_ended(reservations, leases, fields)
  for at = 1, #fields, 2 do
    local call = string.sub(fields[at], 1, 5) == 'call:' and cjson.decode(fields[at + 1])
    if call and not is_open(leases, call.lease) then
      redis.call('HDEL', reservations, fields[at])
      for _, name in ipairs(call.amount > 0 and call.windows or {}) do add_to_sum(reservations, name, -call.amount) end
    end
  end
end
