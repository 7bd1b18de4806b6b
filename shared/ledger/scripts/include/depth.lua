-- How many of a tenant's tasks have not ended. Each is listed once, and besides in the backlog, by its hold and in its shared lanes.
local function depth_of(live)
  local depth = redis.call('ZCARD', live)
  if redis.call('ZLEXCOUNT', live, '[granted=', '(granted=\255') == depth then return depth end
  for _, prefix in ipairs({ 'backlog=', 'hold=', 'holds=', 'passed=', 'waits=' }) do
    depth = depth - redis.call('ZLEXCOUNT', live, '[' .. prefix, '(' .. prefix .. '\255')
  end
  return depth
end
