-- Adds an event of an action to the tenant's event stream and notifies the subscribers. `about`: JSON of what it says.
local function publish_action(options, events, event, about)
  redis.call('XADD', events, 'MAXLEN', '~', options.maxEvents, '*', 'event', event, 'about', about)
  redis.call('PUBLISH', options.channel, options.tenant .. '//' .. event)
end
