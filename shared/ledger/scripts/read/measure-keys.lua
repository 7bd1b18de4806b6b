-- Estimates what keys take of the server's memory.
-- KEYS[1...] per key: of any type
-- ARGV[1] samples: int, elements of each that are measured
-- RETURNS per key its bytes; 0 when there is none
-- include: iterate
local next_key, sizes = iterate(KEYS, 1), {}
local key = next_key()
while key do
  sizes[#sizes + 1] = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', ARGV[1]) or 0
  key = next_key()
end
return sizes
