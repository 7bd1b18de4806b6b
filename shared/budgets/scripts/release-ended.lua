-- Releases what attempts reserved that ended without settling it, because their process was killed.
-- KEYS[1] leases: zset, running attempts of the shard by the end of their lease, ms
-- KEYS[2] reservations: hash, open calls of the tenant by `call:<id>`, JSON, and what they reserve in sum by `sum:<window>`
-- RETURNS 1
-- include: reservations
release_ended(KEYS[2], KEYS[1], redis.call('HGETALL', KEYS[2]))
return 1
