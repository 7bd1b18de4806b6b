-- Lists what one gate holds tasks of a tenant for, each with the place of its first task.
-- KEYS[1] live: zset, lookups of the tenant's tasks that have not ended
-- ARGV[1] gate: text
-- ARGV[2] max: int, how many
-- RETURNS two per hold: what it is, escaped as in the lookup, and the first place, `<rank>/<age and id>`
local prefix = 'hold=' .. ARGV[1] .. ':'
local found, from = {}, '[' .. prefix
while #found < ARGV[2] * 2 do
  local member = redis.call('ZRANGEBYLEX', KEYS[1], from, '(' .. prefix .. '\255', 'LIMIT', 0, 1)[1]
  if not member then break end
  local what, place = string.match(member, '^([^/]*)/(.*)$', #prefix + 1)
  found[#found + 1] = what
  found[#found + 1] = place
  from = '(' .. prefix .. what .. '/\255'
end
return found
