-- Which low task makes room for a critical one. `rules`: maxPerTask, maxRead (tasks of a kind), lowTo (the best priority that makes room), and
-- last_preempted, which is not preempted twice in a row.

-- At most `max` live lookups that begin so.
local function members_from(context, prefix, max)
  return redis.call('ZRANGEBYLEX', context.live, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, max)
end

local function is_low(rules, task)
  return task and not task.completedAt and task.priority <= rules.lowTo and task.queue ~= 'critical'
end

local function may_be_preempted(rules, id, task)
  if task.cancel or is_preempted(task) then return false end
  return id ~= rules.last_preempted and (task.preemptions or 0) < rules.maxPerTask
end

-- Whether the first makes room rather than the second: a task that does not run loses no work.
local function is_better(one, other)
  local runs, other_runs = one.status == 'running', other.status == 'running'
  if runs ~= other_runs then return other_runs end
  if one.priority ~= other.priority then return one.priority < other.priority end
  return (one.startedAt or one.createdAt) > (other.startedAt or other.createdAt)
end

-- The letters of the classes of which a grant has to end, so that a task of this class has room.
local function letters_in_front(context, class)
  local letter = string.sub(class, 1, 1)
  local cap = context.caps and context.caps[letter]
  return cap and count(context, 'granted=' .. letter) >= cap and { letter } or CLASSES
end

-- The low task whose grant would let one of this class in: { id, task }, or nil.
local function choose_granted(context, rules, class)
  local chosen
  for _, letter in ipairs(letters_in_front(context, class)) do
    for _, low in ipairs({ '0/', '1/' }) do
      local prefix = 'granted=' .. letter .. low
      local members = redis.call('ZREVRANGEBYLEX', context.live, '(' .. prefix .. '\255', '[' .. prefix, 'LIMIT', 0, rules.maxRead)
      for _, member in ipairs(members) do
        local id = id_of(member)
        local task = load_task(context, id)
        local may = is_low(rules, task) and task.granted
        if may and task.status == 'running' then may = may_be_preempted(rules, id, task) elseif may then may = not task.notBefore end
        if may and (not chosen or is_better(task, chosen.task)) then chosen = { id = id, task = task } end
      end
    end
  end
  return chosen
end

-- Whether a task that holds shared lanes may give them up: its grant besides has to make room under the caps for one of this class.
local function may_give_lanes(context, rules, id, task, class)
  if not is_low(rules, task) then return false end
  if task.status ~= 'running' then return not (task.granted and task.notBefore) end
  if not may_be_preempted(rules, id, task) then return false end
  if has_room(context, class) then return true end
  for _, letter in ipairs(letters_in_front(context, class)) do
    if letter == string.sub(task.class, 1, 1) then return true end
  end
  return false
end

-- The low task whose shared lanes are all that a critical one lacks: { id, task }, or nil.
local function choose_holder(context, rules, critical)
  local full = {}
  for _, lane in ipairs(critical.sharedLanes or {}) do
    local missing = count(context, 'holds=' .. lane.name .. '/') + 1 - limit_of(context, lane)
    if missing > 1 then return nil end
    if missing == 1 then full[#full + 1] = lane end
  end
  if not full[1] then return nil end
  local chosen
  for _, member in ipairs(members_from(context, 'holds=' .. full[1].name .. '/', rules.maxRead)) do
    local id = id_of(member)
    local holds_all = true
    for _, lane in ipairs(full) do holds_all = holds_all and redis.call('ZSCORE', context.live, holds_member(lane, id)) end
    local task = holds_all and load_task(context, id)
    if task and may_give_lanes(context, rules, id, task, critical.class) and (not chosen or is_better(task, chosen.task)) then
      chosen = { id = id, task = task }
    end
  end
  return chosen
end
