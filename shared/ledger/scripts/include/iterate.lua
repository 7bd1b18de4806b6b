-- Iterates over KEYS or ARGV of a call for many tasks, from position `from` on: those before are common to all tasks.
local function iterate(values, from)
  local position = from - 1
  return function()
    position = position + 1
    return values[position]
  end
end

-- Runs the step of one task among many. Its error stays its own, because what was written for the tasks before it stays written.
local function isolate(step, ...)
  local is_done, answer = pcall(step, ...)
  if is_done then return answer end
  return { 'failed', type(answer) == 'table' and answer.err or tostring(answer) }
end
