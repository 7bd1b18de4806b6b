-- Reads where a task that waits stands in the lanes that it shares.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1] options: JSON, the context: tenant, bounds and caps
-- ARGV[2] id: text, the task's id
-- RETURNS no tickets, and six more per lane: its name, its limit, how many stand before it in the line or -1 when it stands in none, the one right
--   before it or empty, the task that it is kept for and goes before this one or empty, its holders
-- include: body-layout
-- include: states
-- include: context
-- include: grants
-- include: lane-limits
local context = open_context(ARGV[1], KEYS[1], KEYS[2], '', '', '', KEYS[3])
local id = ARGV[2]
local task = load_task(context, id)
local reply = { {} }

local function add_place(lane)
  local prefix, own = 'waits=' .. lane.name .. '/', gates.line_member(lane, id, task)
  local place, previous = -1, ''
  if redis.call('ZSCORE', context.live, own) then
    place = redis.call('ZLEXCOUNT', context.live, '[' .. prefix, '(' .. own)
    local member = redis.call('ZREVRANGEBYLEX', context.live, '(' .. own, '[' .. prefix, 'LIMIT', '0', '1')[1]
    previous = member and id_of(member) or ''
  end
  local holders, prefix_of_holders = {}, 'holds=' .. lane.name .. '/'
  for position, member in ipairs(redis.call('ZRANGEBYLEX', context.live, '[' .. prefix_of_holders, '(' .. prefix_of_holders .. '\255')) do
    holders[position] = id_of(member)
  end
  append(reply, lane.name, limit_of(context, lane))
  append(reply, place, previous)
  append(reply, gates.kept_from(context, lane, id, task) or '', holders)
end

for _, lane in ipairs(task and task.sharedLanes or {}) do add_place(lane) end
return reply
