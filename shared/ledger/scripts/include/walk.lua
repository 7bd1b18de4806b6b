-- Hands out KEYS or ARGV of a call for many tasks one after the other: those before `from` are shared by all.
local function walk(values, from)
  local position = from - 1
  return function()
    position = position + 1
    return values[position]
  end
end

-- Carries out one of many. What is wrong with it stays its own, because what was written for those before it stays written.
local function alone(step, ...)
  local is_done, answer = pcall(step, ...)
  if is_done then return answer end
  return { 'failed', type(answer) == 'table' and answer.err or tostring(answer) }
end
