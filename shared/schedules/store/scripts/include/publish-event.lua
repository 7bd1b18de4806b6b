-- Adds an event of a schedule to the tenant's event stream and notifies the subscribers. `about`: JSON of its name, agent and session.
local function publish_event(options, events, event, id, reason, number, about)
  redis.call('XADD', events, 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'schedule', id, 'reason', reason,
    'number', number, 'about', about)
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end
