-- What a new task descends from. Whether one of these was stopped is decided in the step that accepts it: a cancel pages through the tasks
-- that a tree has, from the top down, and none may join what it has passed.

local parents = {}
do
  -- The task that delegated another, or nil.
  local function parent_of(context, id)
    local body = redis.call('HGET', context.bodies, id)
    local head = body and string.sub(body, 1, string.find(body, BODY_INPUT, 1, true))
    return head and string.match(head, BODY_PARENT .. '([^"]+)"')
  end

  -- The answer to a request whose parent `id`, or a task above it, was stopped; else nil. Beyond a task that goes on nothing counts: a cancel
  -- of what is above has yet to reach it, or a person retried it since.
  function parents.refuse_stopped(context, id)
    while id do
      local text = redis.call('HGET', context.states, id)
      local state = text and read_known(text)
      if state and (state.status == 'cancelled' or state.cancel or state.stopped) then return { 'stopped', id, state.status } end
      id = state and state.completedAt and parent_of(context, id) or nil
    end
    return nil
  end

  -- Whether a request whose parent is `id`, or empty for none, descends from the task `above`.
  function parents.lead_to(context, id, above)
    while id and id ~= '' and id ~= above do id = parent_of(context, id) end
    return id == above
  end
end
