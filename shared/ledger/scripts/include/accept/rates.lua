-- Rates of a tenant by class and window, as a generic cell rate algorithm: one time of each says when its bucket is empty again. A call reads
-- a bucket once, and writes those that it changed at its end.

local buckets = {}
do
  function buckets.open(key) return { key = key, buckets = {}, rules = {} } end

  -- A bucket of the tenant: when it is empty again, as this call leaves it.
  local function bucket_of(rates, field)
    local bucket = rates.buckets[field]
    if bucket then return bucket end
    bucket = { time = tonumber(redis.call('HGET', rates.key, field) or 0), is_changed = false }
    rates.buckets[field] = bucket
    return bucket
  end

  -- The rules for a class, each with its bucket.
  local function rules_of(context, rates, class)
    local rules = rates.rules[class]
    if rules then return rules end
    rules = {}
    for _, scope in ipairs({ class, 'all' }) do
      for window, rule in pairs((context.rates or {})[scope] or {}) do
        local bucket = bucket_of(rates, scope .. ':' .. window)
        rules[#rules + 1] = { bucket = bucket, scope = scope, every = rule.everyMs, span = rule.burst * rule.everyMs }
      end
    end
    rates.rules[class] = rules
    return rules
  end

  -- Whether so many tasks of a class may come in now. Returns 0 and the rules, else how many ms until all of the rules admit them, and the
  -- class whose limit takes longest.
  function buckets.check(context, rates, class, count)
    local rules, longest, longest_class, now = rules_of(context, rates, class), 0, nil, context.now
    for position = 1, #rules do
      local rule = rules[position]
      local bucket, span, over = rule.bucket, rule.span, count * rule.every - rule.span
      local ahead = bucket.time - now
      -- A slower rate, which held before, emptied the bucket for longer.
      if ahead > span then bucket.time, bucket.is_changed, ahead = now + span, true, span end
      if ahead > 0 then over = over + ahead end
      -- Times of day have some 0.0002 ms of error each, by which the last of a burst would come too early.
      if over > rule.every / 1000 and over > longest then longest, longest_class = over, rule.scope end
    end
    if longest > 0 then return longest, longest_class end
    return 0, rules
  end

  -- Counts so many accepted tasks; a negative count takes back what was counted in this call.
  function buckets.fill(context, rules, count)
    local now = context.now
    for position = 1, #rules do
      local rule = rules[position]
      local bucket = rule.bucket
      bucket.time, bucket.is_changed = (bucket.time > now and bucket.time or now) + count * rule.every, true
    end
  end

  function buckets.write(rates)
    local times = {}
    for field, bucket in pairs(rates.buckets) do
      if bucket.is_changed then append(times, field, bucket.time) end
    end
    call_many('HSET', rates.key, times)
  end
end
