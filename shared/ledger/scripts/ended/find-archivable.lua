-- Finds tasks that ended before a time and whose parts are not in the archive, by how long these are.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] bodies: hash, bodies of the tenant's tasks by id
-- KEYS[3] outputs: hash, outputs of the tenant's tasks by id
-- KEYS[4] results: hash, results of the tenant's tasks by id, JSON
-- KEYS[5...] per task: hash, entries of its journal
-- ARGV[1] before: int, ms
-- ARGV[2...] per task: one task
--   id: text, the task's id
-- RETURNS per task about the bytes of its parts; 0 for one that is not to be archived
-- include: body-layout
-- include: states
-- include: archived
-- include: iterate
-- What stays of an archived body is shorter; a longer one need not be read to see that its task is not archived.
local MAX_KEPT = 16384
local before, next_journal, next_id, sizes = tonumber(ARGV[1]), iterate(KEYS, 5), iterate(ARGV, 2), {}

local function has_ended(id)
  local text = redis.call('HGET', KEYS[1], id)
  local is_read, head = pcall(read_head, text or '')
  local ended = is_read and tonumber(head.completedAt)
  return ended and ended < before
end

local function is_archived(id, bytes) return bytes <= MAX_KEPT and archived_at(redis.call('HGET', KEYS[2], id)) ~= nil end

for id in next_id do
  local journal, size = next_journal(), 0
  local bytes = has_ended(id) and redis.call('HSTRLEN', KEYS[2], id) or 0
  if bytes > 0 and not is_archived(id, bytes) then
    size = bytes + redis.call('HSTRLEN', KEYS[3], id) + redis.call('HSTRLEN', KEYS[4], id)
    size = size + (redis.call('MEMORY', 'USAGE', journal, 'SAMPLES', '5') or 0)
  end
  sizes[#sizes + 1] = size
end
return sizes
