-- Writes the registration of a daemon, or removes it, with its name and the digest of its token.
-- KEYS[1] states: hash, tenants that are not active
-- KEYS[2] daemons: hash, the tenant's daemons by id, JSON
-- KEYS[3] names: hash, their ids by name
-- KEYS[4] tokens: hash, `<tenant>/<id>` by the digest of a token
-- KEYS[5] live: hash, `<tenant>/<id>` -> what a hub last wrote of it
-- ARGV[1] tenant: text, its id
-- ARGV[2] id: text, the daemon's
-- ARGV[3] seen: JSON of the registration as it was read, or empty for a new one
-- ARGV[4] daemon: JSON of the registration, or empty to remove it
-- ARGV[5] name: text, or empty to remove it
-- ARGV[6] digest: text, of its token, or empty to remove it
-- ARGV[7] max: int, daemons that a tenant may have
-- RETURNS 'written' | 'changed' when it is another one than was read | 'name-taken' | 'full' | 'ended'
-- include: tenant-state
if ARGV[4] ~= '' and closed_state(KEYS[1], ARGV[1]) == 'ended' then return 'ended' end
local stored = redis.call('HGET', KEYS[2], ARGV[2])
if (stored or '') ~= ARGV[3] then return 'changed' end
local owner = ARGV[5] ~= '' and redis.call('HGET', KEYS[3], ARGV[5])
if owner and owner ~= ARGV[2] then return 'name-taken' end
if not stored and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[7]) then return 'full' end
local field = ARGV[1] .. '/' .. ARGV[2]
if stored then
  -- What of it cannot be read here must not keep its name.
  local names = redis.call('HGETALL', KEYS[3])
  for position = 2, #names, 2 do
    if names[position] == ARGV[2] then redis.call('HDEL', KEYS[3], names[position - 1]) end
  end
  local is_read, before = pcall(cjson.decode, stored)
  if is_read and type(before) == 'table' and before.tokenDigest then redis.call('HDEL', KEYS[4], before.tokenDigest) end
end
if ARGV[4] == '' then
  redis.call('HDEL', KEYS[2], ARGV[2])
  redis.call('HDEL', KEYS[5], field)
else
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
  redis.call('HSET', KEYS[3], ARGV[5], ARGV[2])
  redis.call('HSET', KEYS[4], ARGV[6], field)
end
return 'written'
