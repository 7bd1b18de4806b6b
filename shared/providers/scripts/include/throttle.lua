-- What a model of an account may be called, and what was booked. `keys` names the keys of a script, `options` are the caller's.

-- A second longer than the minute that providers count: a call arrives a little after its time.
local WINDOW_S = 61
local KEPT_S = 130

local function hash_of(key)
  local fields, flat = {}, redis.call('HGETALL', key)
  for position = 1, #flat, 2 do fields[flat[position]] = flat[position + 1] end
  return fields
end

-- The least of what is configured, was learned from an answer, and was guessed after a refusal.
local function least(configured, learned, guessed)
  local limit = math.min(tonumber(configured) or math.huge, tonumber(learned) or math.huge, guessed or math.huge)
  return limit < math.huge and limit or nil
end

-- What was booked by second; entries that count no more are removed.
local function read_window(key, second)
  local window, old = {}, {}
  local flat = redis.call('HGETALL', key)
  for position = 1, #flat, 2 do
    local kind, at = string.match(flat[position], '^(%a)(%d+)$')
    at = tonumber(at)
    if at < second - KEPT_S then
      old[#old + 1] = flat[position]
    else
      window[at] = window[at] or { r = 0, t = 0 }
      window[at][kind] = tonumber(flat[position + 1])
    end
  end
  if #old > 0 then redis.call('HDEL', key, unpack(old)) end
  return window
end

local function open_throttle(keys, options)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local state = hash_of(keys.state)
  local guess = tonumber(state.guess_until or 0) > now and tonumber(state.guess) or nil
  redis.call('ZREMRANGEBYSCORE', keys.calls, '-inf', now)
  return {
    keys = keys,
    options = options,
    now = now,
    state = state,
    window = read_window(keys.window, math.floor(now / 1000)),
    requests = least(options.requests, state.learned_requests, guess),
    tokens = least(options.tokens, state.learned_tokens),
    concurrent = tonumber(options.concurrent),
  }
end

local function set_state(throttle, ...)
  redis.call('HSET', throttle.keys.state, ...)
  redis.call('PEXPIRE', throttle.keys.state, throttle.options.retentionMs)
end

-- Calls and tokens of the minute before a time, without what others than the fleet used.
local function used_at(throttle, at)
  local second, calls, tokens = math.floor(at / 1000), 0, 0
  for each, booked in pairs(throttle.window) do
    if each <= second and each > second - WINDOW_S then calls, tokens = calls + booked.r, tokens + booked.t end
  end
  return calls, tokens
end

-- What is counted at a time, by when it leaves the count, and its sums.
local function counted_at(throttle, at)
  local leaving, calls, tokens = {}, 0, 0
  local function add(leaves_at, r, t)
    if leaves_at <= at then return end
    leaving[#leaving + 1] = { at = leaves_at, r = r, t = t }
    calls, tokens = calls + r, tokens + t
  end
  for second, booked in pairs(throttle.window) do add((second + WINDOW_S) * 1000, booked.r, booked.t) end
  local state = throttle.state
  add(tonumber(state.foreign_until or 0), tonumber(state.foreign_requests or 0), tonumber(state.foreign_tokens or 0))
  table.sort(leaving, function(one, other) return one.at < other.at end)
  return leaving, calls, tokens
end

-- The earliest time of a further call of so many tokens, and what it waits for until then. Times of calls never go back.
local function earliest(throttle, tokens)
  local state, burst = throttle.state, throttle.options.burstMs
  local at, because = math.max(throttle.now, tonumber(state.last or 0)), 'rate'
  if throttle.requests then at = math.max(at, tonumber(state.requests_at or 0) - burst) end
  if throttle.tokens then
    tokens = math.min(tokens, throttle.tokens)
    local tokens_at = tonumber(state.tokens_at or 0) - burst
    if tokens_at > at then at, because = tokens_at, 'tokens' end
  end
  local leaving, calls, counted = counted_at(throttle, at)
  for _, each in ipairs(leaving) do
    local no_calls = throttle.requests and calls + 1 > throttle.requests
    local no_tokens = throttle.tokens and counted + tokens > throttle.tokens
    if not no_calls and not no_tokens then break end
    at, because = each.at, no_calls and 'rate' or 'tokens'
    calls, counted = calls - each.r, counted - each.t
  end
  return math.ceil(at), because
end

local function add_booked(throttle, at, calls, tokens)
  local second = math.floor(at / 1000)
  local booked = throttle.window[second] or { r = 0, t = 0 }
  throttle.window[second] = { r = booked.r + calls, t = booked.t + tokens }
  redis.call('HINCRBY', throttle.keys.window, 'r' .. second, calls)
  redis.call('HINCRBY', throttle.keys.window, 't' .. second, tokens)
  redis.call('EXPIRE', throttle.keys.window, 2 * KEPT_S)
end

-- Moves the times from which on calls are spread.
local function spread(throttle, at, calls, tokens)
  local state = throttle.state
  local function move(field, limit, amount)
    if not limit then return end
    local from = tonumber(state[field] or 0)
    if amount > 0 then from = math.max(from, at) end
    state[field] = from + amount * 60000 / limit
    set_state(throttle, field, string.format('%.3f', state[field]))
  end
  move('requests_at', throttle.requests, calls)
  move('tokens_at', throttle.tokens, tokens)
end

local function reserve_call(throttle, at, tokens)
  add_booked(throttle, at, 1, tokens)
  spread(throttle, at, 1, tokens)
  throttle.state.last = at
  set_state(throttle, 'last', at)
end

-- Releases what no call used.
local function unbook(throttle, at, tokens)
  if not throttle.window[math.floor(at / 1000)] then return end
  add_booked(throttle, at, -1, -tokens)
  spread(throttle, at, -1, -tokens)
end

-- A part of what a minute allows, in ms of it: what a call of so many tokens uses.
local function cost_of(throttle, tokens)
  local part = math.max(throttle.requests and 1 / throttle.requests or 0, throttle.tokens and tokens / throttle.tokens or 0)
  return part > 0 and part * 60000 or 1
end
