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
-- include: body-layout
-- include: states
-- Tasks whose texts are read together while they are short: a call costs more than a short text, and a long one has a million bytes.
local TOGETHER, SHORT_BYTES = 10, 4000
local text, parts = ARGV[2], cjson.decode(ARGV[3])
local found, bytes = {}, 0

local function holds(text_of, part) return text_of and string.find(string.lower(text_of), part, 1, true) end

local function has_parts(body)
  if #parts == 0 then return true end
  local folded = string.lower(body)
  for _, part in ipairs(parts) do
    if not string.find(folded, part, 1, true) then return false end
  end
  return true
end

-- The texts of some tasks, in their order, each text or false.
local function read_column(key, ids)
  if #ids == 0 then return {} end
  local column = redis.call('HMGET', key, unpack(ids))
  for _, text_of in ipairs(column) do bytes = bytes + (text_of and #text_of or 0) end
  return column
end

-- Adds the tasks that this column holds the text of to `matched`. Returns the others.
local function split(ids, column, matched)
  local rest = {}
  for position, id in ipairs(ids) do
    if holds(column[position], text) then matched[id] = true else rest[#rest + 1] = id end
  end
  return rest
end

local function match_together(ids)
  local wanted, matched, rest = {}, {}, {}
  for position, body in ipairs(read_column(KEYS[1], ids)) do
    local id = ids[position]
    if body and has_parts(body) then
      wanted[#wanted + 1] = id
      if text == '' or holds(body, text) then matched[id] = true else rest[#rest + 1] = id end
    end
  end
  rest = split(rest, read_column(KEYS[3], rest), matched)
  local states = read_column(KEYS[2], rest)
  -- The tail has the message of a failure.
  for position, state in ipairs(states) do
    local is_read, head = pcall(read_head, state or '')
    states[position] = is_read and head.tail
  end
  split(rest, states, matched)
  for _, id in ipairs(wanted) do
    if matched[id] then found[#found + 1] = id end
  end
end

local ids, at, together = { unpack(ARGV, 4) }, 1, 1
while at <= #ids and bytes < tonumber(ARGV[1]) do
  local before, last = bytes, math.min(at + together - 1, #ids)
  match_together({ unpack(ids, at, last) })
  together = bytes - before < together * SHORT_BYTES and TOGETHER or 1
  at = last + 1
end
table.insert(found, 1, at - 1)
return found
