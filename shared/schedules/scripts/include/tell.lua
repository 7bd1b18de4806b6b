-- Tells the tenant's event stream, and whoever listens, what happened to a schedule.
local function tell(options, events, event, id, reason)
  redis.call('XADD', events, 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'schedule', id, 'reason', reason)
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end
