-- Brings on the tasks of one tenant whose time has come: into their lane, and to a ticket when the caps have room.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- KEYS[7] due: the shard's tasks that wait for a time
-- KEYS[8...] per task: with a lane, who holds it and who waits for it
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] lanes: `1` or `0` for each task, whether it has a lane
-- ARGV[3] now: `1` when they are to come whatever their time is
-- ARGV[4...] per task: id
-- RETURNS granted, and per task two more: 'promoted' | 'early', due ms | 'lane', the one it has, when the caller knew of none
--   | 'gone' | 'failed', why; granted: id, state and body, or empty, of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
-- include: due
-- include: shared-lanes
-- include: lanes
-- include: walk
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local next_key, next_arg = walk(KEYS, 8), walk(ARGV, 4)
local has_lane, awaited = string.byte('1'), {}

-- One that holds its grant while it waits, as a turn that collects messages does, is only owed its next ticket.
local function reissue(id, task)
  task.gate, task.notBefore, task.ticket = nil, nil, task.ticket + 1
  owe_tickets(book, id .. '.' .. task.ticket)
  save_task(book, id, task)
  append(awaited, id, cjson.encode(task))
end

local function promote(id, keys)
  local task = load_task(book, id)
  if not task or task.completedAt or task.status == 'running' or not task.notBefore then
    redis.call('ZREM', KEYS[7], book.tenant .. '/' .. id)
    return { 'gone' }
  end
  if task.notBefore > book.now and ARGV[3] ~= '1' then
    wait_until_due(book, KEYS[7], id, task.notBefore)
    return { 'early', task.notBefore }
  end
  if task.lane and not keys.held then return { 'lane', task.lane } end
  if task.granted then
    reissue(id, task)
  else
    task.gate, task.notBefore = nil, nil
    if join_lane(book, keys.held, keys.wait, id, task) then
      grant_or_backlog(book, id, task)
    else
      save_task(book, id, task)
    end
  end
  redis.call('ZREM', KEYS[7], book.tenant .. '/' .. id)
  return { 'promoted' }
end

local answers, position, id = { {} }, 1, next_arg()
while id do
  local keys = string.byte(ARGV[2], position) == has_lane and { held = next_key(), wait = next_key() } or {}
  local answer = alone(promote, id, keys)
  append(answers, answer[1], answer[2] or '')
  position, id = position + 1, next_arg()
end
answers[1] = let_through(book)
for at = 1, #awaited, 2 do
  append(answers[1], awaited[at], awaited[at + 1])
  table.insert(answers[1], '')
end
return answers
