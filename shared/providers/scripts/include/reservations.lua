-- What was booked for tasks that were released, by tenant: `<ms>:<tokens>:<expiry>` each, the earliest first.

local function parse_reservations(text)
  local list = {}
  for at, tokens, expiry in string.gmatch(text or '', '(%d+):(%d+):(%d+)') do
    list[#list + 1] = { at = tonumber(at), tokens = tonumber(tokens), expiry = tonumber(expiry) }
  end
  return list
end

local function save_reservations(throttle, tenant, list)
  local parts = {}
  for position, each in ipairs(list) do parts[position] = string.format('%d:%d:%d', each.at, each.tokens, each.expiry) end
  if #parts == 0 then
    redis.call('HDEL', throttle.keys.reserved, tenant)
  else
    redis.call('HSET', throttle.keys.reserved, tenant, table.concat(parts, ','))
    redis.call('PEXPIRE', throttle.keys.reserved, throttle.options.retentionMs)
  end
end

-- The reservations by tenant and their number; what was not used in time is released.
local function read_reservations(throttle)
  local all, count = {}, 0
  for tenant, text in pairs(hash_of(throttle.keys.reserved)) do
    local kept, list = {}, parse_reservations(text)
    for _, each in ipairs(list) do
      if each.expiry > throttle.now then kept[#kept + 1] = each else unbook(throttle, each.at, each.tokens) end
    end
    if #kept < #list then save_reservations(throttle, tenant, kept) end
    all[tenant], count = kept, count + #kept
  end
  return all, count
end

local function add_reservation(throttle, tenant, each)
  local list = parse_reservations(redis.call('HGET', throttle.keys.reserved, tenant))
  list[#list + 1] = each
  save_reservations(throttle, tenant, list)
end
