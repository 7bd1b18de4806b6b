-- Tasks of a call by their kinds: what they share is read once. See `accept-plain-tasks` for what is sent of each.

local read_kinds, body_of, keep_tasks
do
  -- What the tasks of a kind may have, and in which lists the kind has that of each, by position.
  local PARTS = {
    k = { name = 'has_key', lists = { 'keys', 'first_requests' } },
    l = { name = 'has_lane', lists = { 'lanes', 'lane_names', 'ahead' } },
    d = { name = 'has_deadline', lists = { 'deadlines' } },
    s = { name = 'has_sla', lists = { 'slas', 'ranks_from' } },
  }

  local NO_LANES = {}
  local function parse_lanes(text)
    if text == '' then return NO_LANES end
    local lanes = {}
    for limit, name in string.gmatch(text, '(%d+) ([^\n]+)') do lanes[#lanes + 1] = { name = name, limit = tonumber(limit) } end
    return lanes
  end

  -- A lane of the call, which counts the tasks that come to it.
  local function lane_at(lanes, held, wait)
    local lane = lanes[held]
    if not lane then
      lane = { held = held, wait = wait, tasks = 0, line = {} }
      lanes[held], lanes[#lanes + 1] = lane, lane
    end
    lane.tasks = lane.tasks + 1
    return lane
  end

  local function read_kind(context, class, next_arg)
    local rate_class, level, ticket, shared, has, before, between, after, count = next_arg(9)
    local kind = { class = class, rate_class = rate_class, level = level, tail = '.1/' .. ticket, shared = parse_lanes(shared), has = has }
    for position = 1, #has do
      local part = PARTS[string.sub(has, position, position)]
      kind[part.name] = true
      for _, list in ipairs(part.lists) do kind[list] = {} end
    end
    kind.before, kind.between, kind.after = before, between, after
    kind.from = level .. context.tenant .. '/'
    kind.lookups = { next_arg(tonumber(count)) }
    kind.ids, kind.own, kind.own_lookups = {}, {}, {}
    return kind
  end

  -- Reads what a task of a kind has besides its id and its body. Returns its caller's key, if it has one.
  local function read_more(kind, position, lanes, next_key, next_arg)
    if kind.has_key then kind.keys[position], kind.first_requests[position] = next_key(), next_arg() end
    if kind.has_lane then
      local lane = lane_at(lanes, next_key(2))
      lane.has_shared = lane.has_shared or kind.shared[1] ~= nil
      kind.lanes[position], kind.lane_names[position] = lane, next_arg()
    end
    if kind.has_deadline then kind.deadlines[position] = next_arg() end
    if kind.has_sla then kind.slas[position], kind.ranks_from[position] = next_arg(2) end
    for _ = 1, kind.own_count do kind.own_lookups[#kind.own_lookups + 1] = next_arg() end
    return kind.has_key and kind.keys[position] or nil
  end

  -- Reads what the tasks of a call are, kind by kind. Returns the kinds, the callers' keys, and the lanes, in order and by the key of their
  -- holders.
  function read_kinds(context, next_key, next_arg)
    local kinds, keys, lanes = {}, {}, {}
    for class in next_arg do
      local kind = read_kind(context, class, next_arg)
      local own_count, count = next_arg(2)
      kind.own_count = tonumber(own_count)
      kind.has_more = kind.has ~= '' or kind.own_count > 0
      local ids, own = kind.ids, kind.own
      for position = 1, tonumber(count) do
        ids[position], own[position] = next_arg(2)
        if kind.has_more then keys[#keys + 1] = read_more(kind, position, lanes, next_key, next_arg) end
      end
      kinds[#kinds + 1] = kind
    end
    return kinds, keys, lanes
  end

  -- The body of a task of a kind.
  function body_of(kind, position)
    if kind.before == '' then return kind.own[position] end
    return kind.before .. kind.ids[position] .. kind.between .. kind.own[position] .. kind.after
  end

  -- Keeps the tasks of a kind at these positions.
  function keep_tasks(kind, positions)
    local function keep(name)
      local kept = {}
      for at, position in ipairs(positions) do kept[at] = kind[name][position] end
      kind[name] = kept
    end
    keep('ids')
    keep('own')
    for position = 1, #kind.has do
      for _, list in ipairs(PARTS[string.sub(kind.has, position, position)].lists) do keep(list) end
    end
    local lookups = {}
    for _, position in ipairs(positions) do
      for at = (position - 1) * kind.own_count + 1, position * kind.own_count do lookups[#lookups + 1] = kind.own_lookups[at] end
    end
    kind.own_lookups = lookups
  end
end
