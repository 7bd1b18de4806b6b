-- Finds tasks whose texts may hold what a search looks for. The caller compares them exactly: here only ASCII letters are folded.
-- KEYS[1] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[2] states: hash, states of the tenant's tasks by id
-- KEYS[3] outputs: hash, outputs of the tenant's tasks by id
-- ARGV[1] max_bytes: int, texts read after which it stops
-- ARGV[2] text: text in lower case, in the id, body, state or output, or empty
-- ARGV[3] parts: JSON array of texts in lower case, all of them in the body
-- ARGV[4...] per task: one task
--   id: text, the task's id
-- RETURNS {read, id...}: how many tasks were read, and those of them that may match
-- include: iterate
local JSON_BEGINS = string.byte('{')
local next_arg, text, parts = iterate(ARGV, 4), ARGV[2], cjson.decode(ARGV[3])
local found, bytes, read = { 0 }, 0, 0

local function holds(text_of, part) return text_of and string.find(string.lower(text_of), part, 1, true) end

local function has_parts(body)
  local folded = #parts > 0 and string.lower(body)
  for _, part in ipairs(parts) do
    if not string.find(folded, part, 1, true) then return false end
  end
  return true
end

local function counted(found_text)
  bytes = bytes + (found_text and #found_text or 0)
  return found_text
end

local function may_match(id, body)
  if not counted(body) or not has_parts(body) then return false end
  if text == '' or holds(id, text) or holds(body, text) then return true end
  if holds(counted(redis.call('HGET', KEYS[3], id)), text) then return true end
  -- Only a state in full has the message of a failure.
  local state = redis.call('HGET', KEYS[2], id)
  return state and string.byte(state) == JSON_BEGINS and holds(counted(state), text)
end

local id = next_arg()
while id and bytes < tonumber(ARGV[1]) do
  read = read + 1
  if may_match(id, redis.call('HGET', KEYS[1], id)) then found[#found + 1] = id end
  id = next_arg()
end
found[1] = read
return found
