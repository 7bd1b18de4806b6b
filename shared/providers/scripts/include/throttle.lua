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
    changed = {},
    requests = least(options.requests, state.learned_requests, guess),
    tokens = least(options.tokens, state.learned_tokens),
    concurrent = tonumber(options.concurrent),
  }
end

-- Fields of the state, which `save_throttle` writes.
local function set_state(throttle, ...)
  local values = { ... }
  for position = 1, #values, 2 do throttle.changed[values[position]] = values[position + 1] end
end

local function save_throttle(throttle)
  local fields = {}
  for field, value in pairs(throttle.changed) do
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  if #fields == 0 then return end
  redis.call('HSET', throttle.keys.state, unpack(fields))
  redis.call('PEXPIRE', throttle.keys.state, throttle.options.retentionMs)
end

-- What was booked by second, of the last `seconds`. Entries that count no more are removed. A script reads it once.
local function read_window(throttle, seconds)
  if throttle.window then return throttle.window end
  local window, old, now = {}, {}, math.floor(throttle.now / 1000)
  local flat = redis.call('HGETALL', throttle.keys.window)
  for position = 1, #flat, 2 do
    local field = flat[position]
    local at = tonumber(string.sub(field, 2))
    if at < now - KEPT_S then
      old[#old + 1] = field
    elseif at > now - seconds then
      local booked = window[at]
      if not booked then
        booked = { r = 0, t = 0 }
        window[at] = booked
      end
      booked[string.sub(field, 1, 1)] = tonumber(flat[position + 1])
    end
  end
  if #old > 0 then redis.call('HDEL', throttle.keys.window, unpack(old)) end
  throttle.window = window
  return window
end

-- Calls and tokens of the minute before a time, without what others than the fleet used.
local function used_at(throttle, at)
  local second, calls, tokens = math.floor(at / 1000), 0, 0
  for each, booked in pairs(read_window(throttle, KEPT_S + 1)) do
    if each <= second and each > second - WINDOW_S then calls, tokens = calls + booked.r, tokens + booked.t end
  end
  return calls, tokens
end

-- The earliest time from `at` on at which a minute has room for one more call of so many tokens, and what it waits for.
local function find_room(throttle, at, tokens, because)
  local state, window, oldest = throttle.state, read_window(throttle, WINDOW_S), math.floor(at / 1000) - WINDOW_S + 1
  local calls, counted, newest = 0, 0, 0
  for second, booked in pairs(window) do
    if second >= oldest then
      calls, counted, newest = calls + booked.r, counted + booked.t, math.max(newest, second)
    end
  end
  local foreign = { at = tonumber(state.foreign_until or 0), r = tonumber(state.foreign_requests or 0), t = tonumber(state.foreign_tokens or 0) }
  local has_foreign = foreign.at > at
  if has_foreign then calls, counted = calls + foreign.r, counted + foreign.t end
  while has_foreign or oldest <= newest do
    local no_calls = throttle.requests and calls + 1 > throttle.requests
    if not no_calls and not (throttle.tokens and counted + tokens > throttle.tokens) then break end
    local leaving, leaves_at = window[oldest], (oldest + WINDOW_S) * 1000
    if has_foreign and (foreign.at <= leaves_at or oldest > newest) then
      leaving, leaves_at, has_foreign = foreign, foreign.at, false
    else
      oldest = oldest + 1
    end
    if leaving then
      at, because = leaves_at, no_calls and 'rate' or 'tokens'
      calls, counted = calls - leaving.r, counted - leaving.t
    end
  end
  return at, because
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
  if throttle.requests or throttle.tokens then at, because = find_room(throttle, at, tokens, because) end
  return math.ceil(at), because
end

-- Between two removals of old entries of a window that nothing else reads.
local TRIM_S = 16

local function add_booked(throttle, at, calls, tokens)
  local second, key = math.floor(at / 1000), throttle.keys.window
  if throttle.window then
    local booked = throttle.window[second] or { r = 0, t = 0 }
    throttle.window[second] = { r = booked.r + calls, t = booked.t + tokens }
  end
  if tokens ~= 0 then redis.call('HINCRBY', key, 't' .. second, tokens) end
  if calls == 0 or redis.call('HINCRBY', key, 'r' .. second, calls) ~= calls then return end
  redis.call('EXPIRE', key, 2 * KEPT_S)
  if second % TRIM_S == 0 then read_window(throttle, WINDOW_S) end
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

local function is_kept(throttle, at) return at > throttle.now - KEPT_S * 1000 end

-- Releases what no call used.
local function unbook(throttle, at, tokens)
  if not is_kept(throttle, at) then return end
  add_booked(throttle, at, -1, -tokens)
  spread(throttle, at, -1, -tokens)
end

-- A part of what a minute allows, in ms of it: what a call of so many tokens uses.
local function cost_of(throttle, tokens)
  local part = math.max(throttle.requests and 1 / throttle.requests or 0, throttle.tokens and tokens / throttle.tokens or 0)
  return part > 0 and part * 60000 or 1
end
