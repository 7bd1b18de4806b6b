-- Gives tasks of a backup to the fleet, each once: one that the ledger has stays as it is. Their bodies are there already.
-- KEYS[1] states: hash, states of the tenant's tasks by id
-- KEYS[2] live: zset, lookups of the tenant's tasks that have not ended
-- KEYS[3] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[4] due: zset, tasks of the shard that wait for a time, ms
-- KEYS[5] deadlines: zset, deadlines of the shard's tasks, ms
-- KEYS[6] slas: zset, slas of the shard's tasks, ms
-- KEYS[7] waits: zset, suspended runs of the shard whose wait nobody has seen to, by ms
-- KEYS[8...] per task: with a lane, its holders and its line
-- ARGV[1] tenant: text, its id
-- ARGV[2...] per task: JSON, id and state, and what it has: live (members), lease, due, deadline, sla, wait, hasLane, held and place (its scores there)
-- RETURNS how many were given
-- include: iterate
local tenant, next_key, next_arg, given = ARGV[1], iterate(KEYS, 8), iterate(ARGV, 2), 0

-- Adds a member with a score to a set of the shard, where the task has one.
local function add(key, score, member)
  if score then redis.call('ZADD', key, score, member) end
end

local function give(task, held, line)
  if redis.call('HSETNX', KEYS[1], task.id, task.state) == 0 then return end
  local member = tenant .. '/' .. task.id
  given = given + 1
  for _, each in ipairs(task.live) do redis.call('ZADD', KEYS[2], '0', each) end
  add(KEYS[3], task.lease and '0', member .. '/' .. (task.lease or ''))
  add(KEYS[4], task.due, member)
  add(KEYS[5], task.deadline, member)
  add(KEYS[6], task.sla, member)
  add(KEYS[7], task.wait and '0', member .. '/' .. (task.wait or ''))
  if not held then return end
  add(held, task.held, task.id)
  add(line, task.place, task.id)
end

for text in next_arg do
  local task = cjson.decode(text)
  if task.hasLane then give(task, next_key(2)) else give(task) end
end
return given
