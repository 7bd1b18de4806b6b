-- Adds what a process counted to hashes of counters, of the fleet or of tenants of one shard.
-- KEYS[1] states: hash, tenants that are disabled or ended
-- KEYS[2...] per hash: counters by field
-- ARGV[1...] per hash: one addition
--   tenant: text, whose counters these are, or empty for the fleet's
--   keep: int, ms after the first addition, or 0 for good
--   max: int, fields from which on no new one is added, or 0 for no bound
--   counts: JSON object, what to add by field, int; to a field that ends in `|max`, the greatest so far
-- RETURNS how many were added: all but those of tenants that have ended
-- include: additions
local next_arg = iterate(ARGV, 1)

-- Returns whether these may be the first counters of the hash.
local function add_counts(key, max, counts)
  local fields, values = {}, {}
  for field in pairs(counts) do fields[#fields + 1] = field end
  if #fields == 0 then return false end
  local known, known_count = redis.call('HMGET', key, unpack(fields)), 0
  for position = 1, #fields do known_count = known_count + (known[position] and 1 or 0) end
  local is_full = max > 0 and known_count < #fields and redis.call('HLEN', key) >= max
  for position, field in ipairs(fields) do
    local former, by = tonumber(known[position] or 0), counts[field]
    if known[position] or not is_full then
      values[#values + 1] = field
      values[#values + 1] = string.format('%.0f', string.sub(field, -4) == '|max' and math.max(former, by) or former + by)
    end
  end
  if #values > 0 then redis.call('HSET', key, unpack(values)) end
  return known_count == 0
end

return add_all(KEYS[1], iterate(KEYS, 2), next_arg, function(key, is_wanted)
  local keep, max, counts = next_arg(), next_arg(), next_arg()
  if not is_wanted then return end
  local is_first = add_counts(key, tonumber(max), cjson.decode(counts))
  if is_first and tonumber(keep) > 0 then redis.call('PEXPIRE', key, keep) end
end)
