-- What decides about a request before its task: whether it came before, whether its parent was stopped, and the rates of its class (see
-- rates.lua).

local refuse_request, forget_failed, conclude_request
do
  -- The request that came under the caller's key before, or nil.
  local function known_request(request)
    if request.known == nil then return request.known_key and redis.call('GET', request.known_key) end
    return request.known
  end

  -- Why a request is not accepted, as its answer: it came before, its parent was stopped, or its rate is used up. Nil when it may be; then its
  -- body is stored.
  -- `request`: id, known_key (or nil), digest, rate_class and parent (or empty), body and lookups, and what `prepare_requests` noted.
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
    local stopped = request.parent ~= '' and parents.refuse_stopped(context, request.parent)
    if stopped then
      redis.call('HDEL', context.bodies, request.id)
      return stopped
    end
    if request.rate_class == '' then return nil end
    local after, detail = buckets.check(context, intake.rates, request.rate_class, 1)
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
    if request.rules then buckets.fill(context, request.rules, 1) end
    local index, last = intake.index, '/' .. request.id
    for _, lookup in ipairs(request.lookups) do
      index[#index + 1] = '0'
      index[#index + 1] = lookup .. last
    end
    intake.created[#intake.created + 1] = request.id
    return answer
  end
end
