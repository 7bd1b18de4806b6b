-- Reads what tasks are counted and searched by, without what their senders and agents wrote.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- ARGV[1] with_agent: `1` when agents and sources are wanted, or empty
-- ARGV[2...] per task: one task
--   id: text, the task's id
-- RETURNS per task `<status> <agent> <source> <worker> <code>`, each `-` where it is not known; '' for a missing task, '?' for an unreadable one
-- include: body-layout
-- include: states
-- include: iterate
local next_arg, facts = iterate(ARGV, 2), {}

-- The text of a field; no other object within a state has one of the same name. Nil where it is missing.
local function field(text, name)
  local mark = '"' .. name .. '":"'
  local from = string.find(text, mark, 1, true)
  return from and string.sub(text, from + #mark, string.find(text, '"', from + #mark, true) - 1)
end

-- As the codec in TypeScript reads it.
local ASSIGNED = '"isAssigned":true'

-- The JSON that says the agent and the source: what the task began with where the state has no tail. Nil for a missing task.
local function rest_of(head, id)
  if not is_plain_head(head) then return head.tail end
  if ARGV[1] ~= '1' then return '' end
  local body = redis.call('HGET', KEYS[2], id)
  return body and first_of(body)
end

local function facts_of(text, id)
  local head = read_head(text)
  local rest, worker = rest_of(head, id), from_word(head.worker) or '-'
  if not rest then return '' end
  -- Decoding takes several times as long, and only escaped texts need it.
  if not string.find(rest, '\\', 1, true) then
    local status = string.find(rest, ASSIGNED, 1, true) and 'scheduled' or head.status
    return table.concat({ status, field(rest, 'agent') or '-', field(rest, 'source') or '-', worker, field(rest, 'code') or '-' }, ' ')
  end
  local task = cjson.decode(rest)
  local code = task.error and task.error.code or '-'
  return table.concat({ task.isAssigned and 'scheduled' or head.status, task.agent or '-', task.source or '-', worker, code }, ' ')
end

for position, text in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, 2))) do
  local id, is_read, found = next_arg(), true, ''
  if text then is_read, found = pcall(facts_of, text, id) end
  facts[position] = is_read and found or '?'
end
return facts
