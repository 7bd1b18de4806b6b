-- Finds a person who signed in by a provider, with the roles that count now.
-- KEYS[1] people: by id
-- KEYS[2] disabled: people who are disabled, by id and tenant
-- KEYS[3] states: tenants that are not active
-- KEYS[4] marks: of people's sign-ins
-- ARGV[1] id: of the person
-- ARGV[2] mark: of the sign-in, empty when its person had none
-- RETURNS {its JSON, tenants where its roles do not count, ...}, or nil when there is none, it is disabled everywhere, or the sign-in has ended
local stored = redis.call('HGET', KEYS[1], ARGV[1])
if not stored or redis.call('HEXISTS', KEYS[2], ARGV[1] .. '/*') == 1 then return false end
if (redis.call('HGET', KEYS[4], ARGV[1]) or '') ~= ARGV[2] then return false end
local found = { stored }
for _, role in ipairs(cjson.decode(stored).roles) do
  local is_off = redis.call('HEXISTS', KEYS[2], ARGV[1] .. '/' .. role.tenant) == 1
  if is_off or redis.call('HGET', KEYS[3], role.tenant) == 'ended' then found[#found + 1] = role.tenant end
end
return found
