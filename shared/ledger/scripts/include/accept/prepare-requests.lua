-- Notes a name. Returns whether it was noted before.
local function note_name(seen, name)
  if not name then return false end
  local is_known = seen[name] or false
  seen[name] = true
  return is_known
end

-- The requests that repeat neither the id nor the caller's key of an earlier request in the call, which decides about its repetitions.
local function first_requests(requests)
  local first, seen = {}, {}
  for _, request in ipairs(requests) do
    local has_id, has_key = note_name(seen, request.id), note_name(seen, request.known_key)
    request.is_first_of_lane = request.has_lane and not note_name(seen, request.held)
    if not has_id and not has_key then first[#first + 1] = request end
  end
  return first
end

-- Stores the bodies of requests that are new. A server without memory refuses that, and then each request.
local function store_bodies(context, requests)
  local bodies = {}
  for _, request in ipairs(requests) do append(bodies, request.id, request.body) end
  if #bodies == 0 or type(redis.pcall('HSET', context.bodies, unpack(bodies))) == 'table' then return end
  for _, request in ipairs(requests) do request.has_body = true end
end

-- Reads at once what the requests of one call would read one by one, and stores the bodies of the new ones. Notes with each `known`, what
-- came under its key before, or false; `lane_is_empty`; and `has_body`.
local function prepare_requests(context, requests)
  if #requests < 2 then return end
  local first, ids, keys, lanes, new = first_requests(requests), {}, {}, {}, {}
  for position, request in ipairs(first) do
    ids[position] = request.id
    keys[#keys + 1] = request.known_key
    if request.is_first_of_lane then append(lanes, request.held, request.wait) end
  end
  local stored = redis.call('HMGET', context.bodies, unpack(ids))
  local next_known = iterate(#keys > 0 and redis.call('MGET', unpack(keys)) or {}, 1)
  local lanes_are_empty = #lanes > 0 and redis.call('EXISTS', unpack(lanes)) == 0
  for position, request in ipairs(first) do
    if request.known_key then request.known = next_known() end
    request.lane_is_empty = request.is_first_of_lane and lanes_are_empty
    if not stored[position] and not request.known then new[#new + 1] = request end
  end
  store_bodies(context, new)
end
