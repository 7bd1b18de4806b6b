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
local STATUS_OF = { w = 'pending', q = 'queued', r = 'running', c = 'completed' }

local function facts_of_short(text, id)
  local worker = string.match(text, '^[rc] %d+ %d+ %d+ (%S+)') or '-'
  local agent, source = '-', '-'
  if ARGV[1] == '1' then
    local body = redis.call('HGET', KEYS[2], id)
    if not body then return '' end
    local first = first_of(body)
    agent, source = string.match(first, '"agent":"([^"\\]*)"') or '-', string.match(first, '"source":"([^"\\]*)"') or '-'
  end
  return STATUS_OF[string.sub(text, 1, 1)] .. ' ' .. agent .. ' ' .. source .. ' ' .. worker .. ' -'
end

-- The text of a field; no other object within a state has one of the same name. Nil where it is missing.
local function field(text, name)
  local mark = '"' .. name .. '":"'
  local from = string.find(text, mark, 1, true)
  return from and string.sub(text, from + #mark, string.find(text, '"', from + #mark, true) - 1)
end

-- As the codec in TypeScript reads it.
local ASSIGNED = '"isAssigned":true'

local function facts_of(text, id)
  if is_short(text) then return facts_of_short(text, id) end
  -- Decoding takes several times as long, and only escaped texts need it.
  if not string.find(text, '\\', 1, true) and field(text, 'status') then
    local agent, source = field(text, 'agent') or '-', field(text, 'source') or '-'
    local status = string.find(text, ASSIGNED, 1, true) and 'scheduled' or field(text, 'status')
    return table.concat({ status, agent, source, field(text, 'worker') or '-', field(text, 'code') or '-' }, ' ')
  end
  local task = cjson.decode(text)
  local code = task.error and task.error.code or '-'
  return table.concat({ task.isAssigned and 'scheduled' or task.status, task.agent or '-', task.source or '-', task.worker or '-', code }, ' ')
end

for position, text in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, 2))) do
  local id, is_read, found = next_arg(), true, ''
  if text then is_read, found = pcall(facts_of, text, id) end
  facts[position] = is_read and found or '?'
end
return facts
