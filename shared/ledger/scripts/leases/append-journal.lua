-- Writes entries of the journals of running attempts, each if its attempt still holds its lease.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2...] per attempt: one journal
--   journal: hash, entries of the task's journal by number, JSON; `done`: how many have ended; `last`: JSON of the one that began last;
--     `replay:<token>`: the last number that there was when this attempt began
-- ARGV[1...] per attempt: what is written
--   member: text, its lease member
--   begun: int, entries that begin; they change no entry that is there
--   ended: int, entries that end
--   entries: first those that begin, then those that end: number and JSON of each
-- RETURNS per attempt: 1, or 0 when its lease is gone
-- include: iterate
local next_key, next_arg = iterate(KEYS, 2), iterate(ARGV, 1)

local function write(journal, is_held, begun, ended)
  for _ = 1, begun do
    local number, text = next_arg(2)
    if is_held and redis.call('HSETNX', journal, number, text) == 1 then redis.call('HSET', journal, 'last', text) end
  end
  for _ = 1, ended do
    local number, text = next_arg(2)
    if is_held then redis.call('HSET', journal, number, text) end
  end
  if is_held and ended > 0 then redis.call('HINCRBY', journal, 'done', ended) end
end

local answers = {}
for member in next_arg do
  local begun, ended = next_arg(2)
  local is_held = redis.call('ZSCORE', KEYS[1], member)
  write(next_key(), is_held, tonumber(begun), tonumber(ended))
  answers[#answers + 1] = is_held and 1 or 0
end
return answers
