-- What counts of a running attempt when its process is lost: JSON of its `usage` so far, and of `rows` that are not in the day's yet.

-- The sum of two figures, either of which may be nil or null.
local function add_figures(one, other)
  if one == cjson.null or other == cjson.null then return cjson.null end
  return (one or 0) + (other or 0)
end

local function known_part(used)
  return used.costMicroUsd ~= cjson.null and used.costMicroUsd or used.knownCostMicroUsd or 0
end

local function add_usage(one, other)
  if not one then return other end
  local sum = { costMicroUsd = add_figures(one.costMicroUsd, other.costMicroUsd) }
  local known = known_part(one) + known_part(other)
  if sum.costMicroUsd == cjson.null and known > 0 then sum.knownCostMicroUsd = known end
  for _, name in ipairs({ 'inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens' }) do
    if one[name] or other[name] then sum[name] = add_figures(one[name], other[name]) end
  end
  sum.isEstimated = one.isEstimated or other.isEstimated
  return sum
end

-- The same as `sumUsage` in shared/tasks.
local function sum_usage(one, other)
  if not one then return other end
  local sum = add_usage(one, other)
  if not one.byModel and not other.byModel then return sum end
  sum.byModel, sum.knownCostMicroUsd = {}, nil
  for _, each in ipairs({ one, other }) do
    for model, used in pairs(each.byModel or { [''] = add_usage({ costMicroUsd = 0 }, each) }) do
      sum.byModel[model] = add_usage(sum.byModel[model], used)
    end
  end
  return sum
end

-- Takes what a lost attempt reported, adds it to its task, and returns it, or nil. The rest of what it used is not known.
local function take_lost_usage(keys, field, task, bounds)
  local text = redis.call('HGET', keys.running_usage, field)
  if not text then return nil end
  redis.call('HDEL', keys.running_usage, field)
  local record = cjson.decode(text)
  count_usage(keys.usage_day, record.rows, bounds)
  task.usage = sum_usage(task.usage, record.usage)
  return record.usage
end
