-- What lanes that tasks share have room for, in the live lookups: `holds=<lane>/<id>`, `waits=<lane>/<accepted at>/<id>` in the line of a lane, with
-- a `!` before the time of a critical task, and `passed=<since>/<id>` of a task that others may pass in a lane. See shared-gates.lua.

-- The least distance of two slots in a line, in ms; a double this long after 1970 still tells it apart.
local STEP_MS = 1 / 256
-- Sorts before all times.
local CRITICAL = '!'
-- The gates of all caps together, and of whatever holds a task until a release, which `task.hold` names.
local CAP, HOLD = 'cap', 'hold'

local function holds_member(lane, id) return 'holds=' .. lane.name .. '/' .. id end

local function timed_member(prefix, id, task, ms)
  return prefix .. (task.queue == 'critical' and CRITICAL or '') .. string.format('%015d', ms) .. '/' .. id
end

function gates.line_member(lane, id, task) return timed_member('waits=' .. lane.name .. '/', id, task, task.createdAt) end

function gates.passed_member(id, task) return timed_member('passed=', id, task, task.passed) end

local function first_of_shared(context, lane)
  local prefix = 'waits=' .. lane.name .. '/'
  return redis.call('ZRANGEBYLEX', context.live, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', '1')[1]
end

-- The limit of a lane: that of its tenant now, else the configuration's, else that with which the task was accepted. An agent made by API
-- that has no bound any more leaves its lane open.
local function limit_of(context, lane)
  local name = lane.name
  return (context.agentLanes or {})[name] or (context.openLanes or {})[name] or (context.laneLimits or {})[name] or lane.limit
end

do
  -- Tasks that one step reads for what is kept for them.
  local MAX_KEEPERS = 32

  -- Keeps the lanes of a task for it, unless one that has waited for longer keeps any of them.
  local function keep(context, kept, id)
    local task = load_task(context, id)
    if not task or task.gate == 'cap' and is_shut(context, task.class) then return end
    for _, lane in ipairs(task.sharedLanes or {}) do
      if kept[lane.name] then return end
    end
    for _, lane in ipairs(task.sharedLanes or {}) do kept[lane.name] = { id = id, task = task } end
  end

  -- The lanes that are kept, each with the task that has waited for it for longest while others passed. Critical ones come first.
  function gates.kept_lanes(context)
    local kept = context.kept
    if kept then return kept end
    kept = {}
    context.kept = kept
    if #redis.call('ZRANGEBYLEX', context.live, '[passed=', '(passed=\255', 'LIMIT', '0', '1') == 0 then return kept end
    local before = string.format('%015d', context.now - context.reserveAfterMs + 1)
    for _, prefix in ipairs({ 'passed=' .. CRITICAL, 'passed=' }) do
      local members = redis.call('ZRANGEBYLEX', context.live, '[' .. prefix .. '0', '(' .. prefix .. before, 'LIMIT', '0', MAX_KEEPERS)
      for _, member in ipairs(members) do keep(context, kept, id_of(member)) end
    end
    return kept
  end

  -- Whether a task goes before the one that a lane is kept for: lines of lanes have no priorities but the critical one, those of caps have.
  local function goes_before(task, keeper)
    if keeper.queue == 'critical' then return false end
    return task.queue == 'critical' or keeper.gate == 'cap' and task.priority > keeper.priority
  end

  -- The other task that a place in a lane is kept for, so that this one may not have it, or nil.
  function gates.kept_from(context, lane, id, task)
    local keeper = gates.kept_lanes(context)[lane.name]
    return keeper and keeper.id ~= id and not goes_before(task, keeper.task) and keeper.id or nil
  end

  -- Whether a lane has room for a task that does not hold it.
  function gates.lane_has_room(context, lane, id, task)
    local room = limit_of(context, lane) - count(context, 'holds=' .. lane.name .. '/')
    return room > (gates.kept_from(context, lane, id, task) and 1 or 0)
  end

  -- How many new tasks a lane has room for, whoever they are: none while others wait for it.
  function gates.room_in_lane(context, lane)
    if first_of_shared(context, lane) then return 0 end
    return limit_of(context, lane) - count(context, 'holds=' .. lane.name .. '/') - (gates.kept_lanes(context)[lane.name] and 1 or 0)
  end
end
