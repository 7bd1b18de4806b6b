-- What decides about a request before its task: whether it came before, and the rates of its class.

local refuse_request, forget_failed, conclude_request
do
  -- A bucket of the tenant: when it is empty again, as this call leaves it.
  local function bucket_of(intake, field)
    local bucket = intake.buckets[field]
    if bucket then return bucket end
    bucket = { time = tonumber(redis.call('HGET', intake.rates, field) or 0), is_changed = false }
    intake.buckets[field] = bucket
    return bucket
  end

  -- The rules for a class, each with its bucket.
  local function rules_of(context, intake, class)
    local rules = intake.rules[class]
    if rules then return rules end
    rules = {}
    for _, scope in ipairs({ class, 'all' }) do
      for window, rule in pairs((context.rates or {})[scope] or {}) do
        local bucket = bucket_of(intake, scope .. ':' .. window)
        rules[#rules + 1] = { bucket = bucket, scope = scope, every = rule.everyMs, span = rule.burst * rule.everyMs }
      end
    end
    intake.rules[class] = rules
    return rules
  end

  -- Generic cell rate algorithm: one time per class and window says when the bucket is empty again.
  -- Returns 0 and the rules when the task may come in, else how many ms until all of them admit it, and the class whose
  -- limit takes longest.
  local function check_rates(context, intake, class)
    local rules, longest, longest_class, now = rules_of(context, intake, class), 0, nil, context.now
    for position = 1, #rules do
      local rule = rules[position]
      local bucket, span, over = rule.bucket, rule.span, rule.every - rule.span
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

  -- Counts an accepted request.
  local function fill_buckets(context, rules)
    local now = context.now
    for position = 1, #rules do
      local rule = rules[position]
      local bucket = rule.bucket
      bucket.time, bucket.is_changed = (bucket.time > now and bucket.time or now) + rule.every, true
    end
  end

  -- The request that came under the caller's key before, or nil.
  local function known_request(request)
    if request.known == nil then return request.known_key and redis.call('GET', request.known_key) end
    return request.known
  end

  -- Why a request is not accepted, as its answer: it came before, or its rate is used up. Nil when it may be; then its body is stored.
  -- `request`: id, known_key (or nil), digest, rate_class (or empty), body and lookups, and what `prepare_requests` noted.
  function refuse_request(context, intake, request)
    local known = known_request(request)
    if known then
      local first, known_digest = string.match(known, '^(%S+) (.*)$')
      return { known_digest == request.digest and 'duplicate' or 'conflict', first }
    end
    -- The client sends a call again when the reply was lost; its id tells. Before the limits, some of which it used up itself.
    if not request.has_body and redis.call('HSETNX', context.bodies, request.id, request.body) == 0 then
      return { 'duplicate', request.id }
    end
    request.has_body = true
    if request.rate_class == '' then return nil end
    local after, detail = check_rates(context, intake, request.rate_class)
    if after > 0 then
      redis.call('HDEL', context.bodies, request.id)
      return { 'rate', math.ceil(after), detail }
    end
    request.rules = detail
    return nil
  end

  -- A request that failed has left nothing but its body. That of an earlier request stays.
  function forget_failed(context, request)
    if request.has_body then redis.call('HDEL', context.bodies, request.id) end
  end

  -- Writes what remembers an accepted request, or removes the body of a request that was not accepted after all. Returns the answer.
  function conclude_request(context, intake, request, answer)
    if answer[1] ~= 'accepted' then
      redis.call('HDEL', context.bodies, request.id)
      return answer
    end
    if request.known_key then
      redis.call('SET', request.known_key, request.id .. ' ' .. request.digest, 'PX', intake.remember_ms)
    end
    if request.rules then fill_buckets(context, request.rules) end
    local index, last = intake.index, '/' .. request.id
    for _, lookup in ipairs(request.lookups) do
      index[#index + 1] = '0'
      index[#index + 1] = lookup .. last
    end
    intake.created[#intake.created + 1] = request.id
    return answer
  end
end
