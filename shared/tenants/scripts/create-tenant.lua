-- Makes a tenant, unless its name is taken. A name that was used before gets the next generation, which is another tenant.
-- KEYS[1] tenants: by name
-- KEYS[2] generations: of the last tenant of each name that ended
-- ARGV[1] name: of the tenant
-- ARGV[2] record: its JSON, without the id
-- ARGV[3] max: tenants of the fleet
-- RETURNS {'created', id} | {'exists'} | {'full'}
local generation = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0) + 1
local id = generation == 1 and ARGV[1] or ARGV[1] .. '~' .. generation
local record = '{"id":"' .. id .. '",' .. string.sub(ARGV[2], 2)
local known = redis.call('HGET', KEYS[1], ARGV[1])
-- The client sends a call again when its reply was lost.
if known then return known == record and { 'created', id } or { 'exists' } end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return { 'full' } end
redis.call('HSET', KEYS[1], ARGV[1], record)
return { 'created', id }
