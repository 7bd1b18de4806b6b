-- Takes room of the fleet's rates for tasks of some classes: as many of each as all of its windows admit. Generic cell rate algorithm, as
-- for the rates of a tenant.
-- KEYS[1] rates: hash, when the fleet's buckets are empty again by class and window, ms
-- ARGV[1] rules: JSON, by class and window: everyMs and burst
-- ARGV[2] wanted: JSON, tasks by class
-- ARGV[3] returned: JSON, by class, room that was taken before and not used
-- RETURNS per wanted class {class, tasks admitted, ms until the next one is, the class whose rate takes longest}
local rules, wanted, returned = cjson.decode(ARGV[1]), cjson.decode(ARGV[2]), cjson.decode(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000

-- The windows that count tasks of a class, each with the time at which its bucket is empty.
local function windows_of(class)
  local windows = {}
  for _, scope in ipairs({ class, 'all' }) do
    for name, rule in pairs(rules[scope] or {}) do
      local field = scope .. ':' .. name
      local empty_at = math.max(tonumber(redis.call('HGET', KEYS[1], field) or 0), now)
      -- A slower rate, which held before, emptied the bucket for longer.
      local latest = now + rule.burst * rule.everyMs
      if empty_at > latest then
        empty_at = latest
        redis.call('HSET', KEYS[1], field, empty_at)
      end
      windows[#windows + 1] = { field = field, scope = scope, every = rule.everyMs, burst = rule.burst, empty_at = empty_at }
    end
  end
  return windows
end

local function fill(windows, count)
  for _, window in ipairs(windows) do redis.call('HSET', KEYS[1], window.field, window.empty_at + count * window.every) end
end

for class, count in pairs(returned) do fill(windows_of(class), -count) end

local answers = {}
for class, count in pairs(wanted) do
  local windows, admitted = windows_of(class), count
  for _, window in ipairs(windows) do
    -- A millionth of a task, for sums that are a little off.
    local room = math.floor((window.burst * window.every - window.empty_at + now) / window.every + 1e-6)
    admitted = math.max(0, math.min(admitted, room))
  end
  local after, scope = 0, ''
  for _, window in ipairs(windows) do
    local over = window.empty_at + (admitted + 1) * window.every - now - window.burst * window.every
    if over > after then after, scope = over, window.scope end
  end
  if admitted > 0 then fill(windows, admitted) end
  answers[#answers + 1] = { class, admitted, math.ceil(after), scope }
end
return answers
