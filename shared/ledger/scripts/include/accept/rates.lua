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

  -- How many tasks of a class may come in now (`left`); without room for one, how many ms until all rules admit it (`after`), and the class whose
  -- limit takes longest (`scope`).
  local function measure(context, rates, class)
    local room = { class = class, rules = rules_of(context, rates, class), left = math.huge, taken = 0, after = 0 }
    for _, rule in ipairs(room.rules) do
      local bucket, span, every = rule.bucket, rule.span, rule.every
      local ahead = math.max(0, bucket.time - context.now)
      -- A slower rate, which held before, emptied the bucket for longer.
      if ahead > span then bucket.time, bucket.is_changed, ahead = context.now + span, true, span end
      -- Times of day have some 0.0002 ms of error each, by which the last of a burst would come too early.
      local over = every + ahead - span
      if over > every / 1000 and over > room.after then room.after, room.scope = over, rule.scope end
      room.left = math.min(room.left, math.floor((span - ahead) / every + 1 / 1000))
    end
    return room
  end

  -- Counts what was taken of the class that was checked last.
  local function count_taken(context, rates)
    local room = rates.room
    if not room or room.taken == 0 then return end
    for _, rule in ipairs(room.rules) do
      local bucket = rule.bucket
      bucket.time, bucket.is_changed = math.max(bucket.time, context.now) + room.taken * rule.every, true
    end
    room.taken = 0
  end

  -- How many ms until a task of a class may come in, 0 for now, and the class whose limit takes longest. The tasks of a call mostly have one class,
  -- so its room is measured once.
  function buckets.check(context, rates, class)
    local room = rates.room
    if not room or room.class ~= class or room.left < 1 then
      count_taken(context, rates)
      room = measure(context, rates, class)
      rates.room = room
    end
    return room.left < 1 and room.after or 0, room.scope
  end

  -- Counts an accepted task of the class that was checked last.
  function buckets.take(rates)
    local room = rates.room
    room.left, room.taken = room.left - 1, room.taken + 1
  end

  function buckets.write(context, rates)
    count_taken(context, rates)
    local times = {}
    for field, bucket in pairs(rates.buckets) do
      if bucket.is_changed then append(times, field, bucket.time) end
    end
    call_many('HSET', rates.key, times)
  end
end
