-- Why a tenant takes in nothing: 'disabled' or 'ended'; nil while it is active.
local function closed_state(states, tenant)
  return redis.call('HGET', states, tenant) or nil
end
