-- Writes a record of the fleet, unless it is another one than was read.
-- KEYS[1] record: string, JSON of the fleet's limits, or of the shares of its caps
-- ARGV[1] next: JSON, or empty to remove it
-- ARGV[2] seen: the record as it was read, or empty for none
-- RETURNS 1, or 0 when it changed since it was read
local known = redis.call('GET', KEYS[1]) or ''
-- The client sends a call again when its reply was lost.
if known == ARGV[1] then return 1 end
if known ~= ARGV[2] then return 0 end
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1]) end
return 1
