-- Counts a task that is about to be accepted among the descendants of its root, and among what tasks of the tenant made lately.
-- KEYS[1] tree: hash, of one root task: `tasks` that descend from it, `since` the first one (ms), `cut`, why no more are accepted, and `task:<id>`
--   of those that are counted once however often they come
-- KEYS[2] delegated: hash, tasks that the tenant's tasks made within a minute by root, `all` of them, and the root that made the `most` of them
-- ARGV[1] root: text, id of the root
-- ARGV[2] max: int, descendants that a root may have
-- ARGV[3] max_ms: int, how long after the first one there may be others
-- ARGV[4] max_per_minute: int, tasks that the tenant's tasks may make within a minute
-- ARGV[5] keep: int, ms that the count is kept after this
-- ARGV[6] task: text, the id of a task that may come again, or empty
-- RETURNS {'counted'} | {'full'} | {'old'} | {'cut', reason} | {'fast', root to cut, its share} | {'busy', ms until the minute is over}
local WINDOW_MS = 60000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local tree = redis.call('HMGET', KEYS[1], 'cut', 'tasks', 'since')
if tree[1] then return { 'cut', tree[1] } end
local known = ARGV[6] ~= '' and 'task:' .. ARGV[6]
if known and redis.call('HEXISTS', KEYS[1], known) == 1 then return { 'counted' } end
if tonumber(tree[2] or 0) >= tonumber(ARGV[2]) then return { 'full' } end
if tree[3] and now - tree[3] > tonumber(ARGV[3]) then return { 'old' } end

local lately = redis.call('HMGET', KEYS[2], 'all', 'most', 'made')
local all, made = tonumber(lately[1] or 0), tonumber(lately[3] or 0)
if all >= tonumber(ARGV[4]) then
  -- One chain among many is to blame when it made a tenth of all; otherwise all have to wait.
  if made * 10 < all then return { 'busy', math.max(redis.call('PTTL', KEYS[2]), 1) } end
  redis.call('HDEL', KEYS[2], lately[2], 'most', 'made')
  redis.call('HSET', KEYS[2], 'all', all - made)
  return { 'fast', lately[2], made }
end
redis.call('HSET', KEYS[2], 'all', all + 1)
if all == 0 then redis.call('PEXPIRE', KEYS[2], WINDOW_MS) end
local own = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
if own > made then redis.call('HSET', KEYS[2], 'most', ARGV[1], 'made', own) end
redis.call('HINCRBY', KEYS[1], 'tasks', 1)
if known then redis.call('HSET', KEYS[1], known, 1) end
if not tree[3] then redis.call('HSET', KEYS[1], 'since', now) end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 'counted' }
