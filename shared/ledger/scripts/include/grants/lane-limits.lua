-- What a lane has room for: see shared-lanes.lua for those that tasks share.

-- The least distance of two slots in a line, in ms; a double this long after 1970 still tells it apart.
local STEP_MS = 1 / 256

local function holds_member(lane, id) return 'holds=' .. lane.name .. '/' .. id end

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
