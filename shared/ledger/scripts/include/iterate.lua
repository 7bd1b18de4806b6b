-- Iterates over KEYS or ARGV of a call for many tasks, from position `from` on: those before are common to all tasks.
-- Each call returns the next value, or the next `count` values.
local function iterate(values, from)
  local position = from - 1
  return function(count)
    local first = position + 1
    position = position + (count or 1)
    if count then return unpack(values, first, position) end
    return values[position]
  end
end

-- Runs the step of one task among many. Its error stays its own, because what was written for the tasks before it stays written.
local function isolate(step, ...)
  local is_done, answer = pcall(step, ...)
  if is_done then return answer end
  return { 'failed', type(answer) == 'table' and answer.err or tostring(answer) }
end
