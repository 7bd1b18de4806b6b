-- Tells the tenant's event stream, and whoever listens, what happened to a schedule. `about`: its number, and JSON of what else tells
-- people which one it is.
local function tell(options, events, event, id, reason, number, about)
  redis.call('XADD', events, 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'schedule', id, 'reason', reason,
    'number', number, 'about', about)
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end
