-- Refusals of a provider: of the model, the account or the endpoint. A cool-down ends with its time, a wall by a call that tries.

-- Between two trials, when the first has no answer.
local PROBE_LEASE_MS = 60000

local function blocks_of(throttle)
  local keys = throttle.keys
  return {
    { scope = 'model', key = keys.state, fields = throttle.state },
    { scope = 'account', key = keys.account, fields = hash_of(keys.account) },
    { scope = 'endpoint', key = keys.endpoint, fields = hash_of(keys.endpoint) },
  }
end

-- The refusals that stand, whether or not a call may try them.
local function standing_blocks(throttle)
  local standing = {}
  for _, each in ipairs(blocks_of(throttle)) do
    local kind, at = each.fields.block, tonumber(each.fields.block_until or 0)
    if kind == 'wall' or kind and at > throttle.now then standing[#standing + 1] = each end
  end
  return standing
end

-- The refusal that holds longest, or nil, and those that a call may try now. `prober` names who was released to try. Only a person gives the trial
-- of a refusal whose time has not come.
local function find_block(throttle, prober)
  local block, due = nil, {}
  for _, each in ipairs(blocks_of(throttle)) do
    local fields = each.fields
    local at, kind = tonumber(fields.block_until or 0), fields.block
    local is_ours = prober ~= nil and fields.probe == prober
    if kind and (is_ours or kind == 'wall' and at <= throttle.now) then
      at = is_ours and 0 or tonumber(fields.probe_until or 0)
      if at <= throttle.now then due[#due + 1] = each end
    end
    if at > throttle.now and (block == nil or at > block.at) then block = { at = at, because = kind, scope = each.scope } end
  end
  return block, due
end

-- No other call tries these walls for a while.
local function start_probe(throttle, due, prober, ms)
  for _, each in ipairs(due) do
    redis.call('HSET', each.key, 'probe', prober, 'probe_until', throttle.now + (ms or PROBE_LEASE_MS))
  end
end

-- What a call was refused by. A call from before the last refusal changes nothing. Returns whether it is a wall that did not stand, and until
-- when the refusal holds.
local function raise_block(throttle, block, booked_at)
  local options = throttle.options
  for _, each in ipairs(blocks_of(throttle)) do
    local fields = each.fields
    if each.scope == block.scope then
      if fields.block and booked_at <= tonumber(fields.refused or 0) then return false, tonumber(fields.block_until) end
      local fails = tonumber(fields.fails or 0)
      local first, longest = options.coolDownMs, 60000
      if block.kind == 'wall' then first, longest = options.probeMs, options.maxProbeMs end
      local ms = block.ms or math.min(longest, first * 2 ^ math.min(fails, 20))
      local is_new = fields.block ~= block.kind
      local at = math.max(math.ceil(throttle.now + ms), is_new and tonumber(fields.block_until or 0) or 0)
      redis.call('HSET', each.key, 'block', block.kind, 'block_until', at, 'reason', block.reason, 'fails', fails + 1, 'refused', throttle.now)
      if is_new then redis.call('HSET', each.key, 'since', throttle.now) end
      redis.call('HDEL', each.key, 'probe', 'probe_until')
      redis.call('PEXPIRE', each.key, math.max(options.retentionMs, 2 * ms))
      return is_new and block.kind == 'wall', at
    end
  end
  return false, throttle.now
end

-- A call that was to try a wall did not go: another may try at once.
local function end_probe(throttle, prober)
  for _, each in ipairs(blocks_of(throttle)) do
    if each.fields.probe == prober then redis.call('HDEL', each.key, 'probe', 'probe_until') end
  end
end

-- A call that went after the refusals was answered. Returns whether a wall fell.
local function clear_blocks(throttle, booked_at)
  local fell = false
  for _, each in ipairs(blocks_of(throttle)) do
    if each.fields.block and booked_at > tonumber(each.fields.refused or 0) then
      fell = fell or each.fields.block == 'wall'
      redis.call('HDEL', each.key, 'block', 'block_until', 'reason', 'fails', 'refused', 'since', 'probe', 'probe_until')
    end
  end
  return fell
end
