-- The items of a call, as `accept-item.ts` makes them, and what decides about each before its task: whether it came before, whether its parent
-- was stopped, and the rates of its class.

local items = {}
do
  -- Notes a name. Returns whether it was noted before.
  local function note_name(seen, name)
    local is_known = seen[name]
    seen[name] = true
    return is_known
  end

  -- Items of one call mostly have the same shared lanes: each list is parsed once.
  local lanes_by_text = { [''] = {} }
  local function parse_lanes(text)
    local lanes = lanes_by_text[text]
    if lanes then return lanes end
    lanes = {}
    for limit, name in string.gmatch(text, '(%d+) ([^\n]+)') do lanes[#lanes + 1] = { name = name, limit = tonumber(limit) } end
    lanes_by_text[text] = lanes
    return lanes
  end

  -- Reads the items with their bodies and keys.
  function items.read(next_key, next_arg)
    local all = {}
    for text in next_arg do
      local item = cjson.decode(text)
      item.body, item.shared = next_arg(), parse_lanes(item.shared or '')
      if item.digest then item.known_key = next_key() end
      if item.hasLane then item.held, item.wait = next_key(2) end
      if item.repeats then item.repeats_key = next_key() end
      all[#all + 1] = item
    end
    return all
  end

  -- Stores the bodies of new items. A server without memory refuses that, and then each item.
  local function store_bodies(context, new)
    local bodies = {}
    for _, item in ipairs(new) do append(bodies, item.id, item.body) end
    if #bodies == 0 or type(redis.pcall('HSET', context.bodies, unpack(bodies))) == 'table' then return end
    for _, item in ipairs(new) do item.has_body = true end
  end

  -- Reads at once what the items of one call would read one by one, and stores the bodies of the new ones. Notes with each `known`, what came
  -- under its key before, or false; `lane_is_empty`; and `has_body`. One that repeats the id or the key of another is decided behind that one.
  function items.prepare(context, all)
    if #all < 2 then return end
    local first, ids, keys, lanes, seen = {}, {}, {}, {}, {}
    for _, item in ipairs(all) do
      item.is_first_of_lane = item.held and not note_name(seen, item.held)
      if item.is_first_of_lane then append(lanes, item.held, item.wait) end
      local has_key = item.known_key and note_name(seen, item.known_key)
      if not note_name(seen, item.id) and not has_key then
        first[#first + 1], ids[#ids + 1] = item, item.id
        keys[#keys + 1] = item.known_key
      end
    end
    local stored = redis.call('HMGET', context.bodies, unpack(ids))
    local next_known = iterate(#keys > 0 and redis.call('MGET', unpack(keys)) or {}, 1)
    local lanes_are_empty, new = #lanes > 0 and redis.call('EXISTS', unpack(lanes)) == 0, {}
    for position, item in ipairs(first) do
      if item.known_key then item.known = next_known() end
      if not stored[position] and not item.known then new[#new + 1] = item end
    end
    for _, item in ipairs(all) do item.lane_is_empty = item.is_first_of_lane and lanes_are_empty end
    store_bodies(context, new)
  end

  -- Whether the ledger has this id already; else its body is stored now. Without memory the server refuses what came before, too.
  local function is_stored(context, item)
    local stored = redis.pcall('HSETNX', context.bodies, item.id, item.body)
    if type(stored) ~= 'table' then return stored == 0 end
    if redis.call('HEXISTS', context.bodies, item.id) == 1 then return true end
    error(stored)
  end

  -- The answer to a request that came before, under its caller's key or, because the client lost the reply, under its id; else nil. It comes
  -- before the limits, some of which the request used up itself.
  function items.came_before(context, item)
    local known = item.known
    if known == nil then known = item.known_key and redis.call('GET', item.known_key) end
    if known then
      local first, digest = string.match(known, '^(%S+) (.*)$')
      return { digest == item.digest and 'duplicate' or 'conflict', first }
    end
    if not item.has_body and is_stored(context, item) then return { 'duplicate', item.id } end
    item.has_body = true
    return nil
  end

  -- The refusal of a request whose parent was stopped, or whose rate is used up, or nil.
  function items.refuse(context, intake, item)
    local stopped = item.parent and parents.refuse_stopped(context, item.parent)
    if stopped then return stopped end
    if not item.rateClass then return nil end
    local after, scope = buckets.check(context, intake.rates, item.rateClass)
    return after > 0 and { 'rate', math.ceil(after), scope } or nil
  end

  -- A request that was not accepted has left nothing but its body. That of an earlier request stays.
  function items.forget(context, item)
    if item.has_body then redis.call('HDEL', context.bodies, item.id) end
  end

  -- Writes what remembers an accepted request, or forgets one that was not accepted. Returns the answer.
  function items.conclude(context, intake, item, answer)
    if answer[1] ~= 'accepted' then
      items.forget(context, item)
      return answer
    end
    if item.known_key then redis.call('SET', item.known_key, item.id .. ' ' .. item.digest, 'PX', context.rememberMs) end
    if item.rateClass then buckets.take(intake.rates) end
    local index = intake.index
    local length = #index
    for position, lookup in ipairs(item.lookups) do index[length + 2 * position - 1], index[length + 2 * position] = '0', lookup end
    intake.created[#intake.created + 1] = item.id
    return answer
  end
end
