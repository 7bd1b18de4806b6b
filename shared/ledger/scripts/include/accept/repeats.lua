-- Equal inputs in a row to one agent, by one source. The record of both is JSON: the `digest` of the last input, how often it came (`count`)
-- since `since` (ms), `warnedAt` (ms), and `held`, by digest: how many tasks it holds (`count`), after how many that ran (`after`), since
-- `at`, and when the last one came (`last`, ms).

local repetition = {}
do
  -- Inputs that one record holds; the one that is quiet for longest goes.
  local MAX_INPUTS = 10

  -- The record of a request's agent and source, read once in a call.
  local function record_of(intake, key, window)
    local known = intake.repeats[key]
    if not known then
      local text = redis.call('GET', key)
      known = { record = text and cjson.decode(text) or { digest = '', count = 0, since = 0, held = {} } }
      intake.repeats[key] = known
    end
    known.window = window
    return known.record
  end

  local function describe(rule, count)
    return string.format('runaway: the same input came %d times in a row to the agent %s by %s', count, rule.agent, rule.source)
  end

  local function drop_quietest(held)
    local count, quietest = 0, nil
    for digest, input in pairs(held) do
      count = count + 1
      if not quietest or input.last < held[quietest].last then quietest = digest end
    end
    if count >= MAX_INPUTS then held[quietest] = nil end
  end

  -- The hold of a request whose input is held, or its refusal when that holds as many as it may.
  local function hold_request(rule, input, now)
    if input.count >= rule.maxHeld then return nil, { 'repeated', describe(rule, input.after + input.count + 1) .. ', and no more of it are held' } end
    input.count, input.last = input.count + 1, now
    return { what = rule.source .. '/' .. rule.agent .. '/' .. rule.digest, note = describe(rule, input.after + input.count) }
  end

  local function notify(intake, item, rule, count, is_held)
    local facts = { count = count, held = is_held, reason = describe(rule, count) }
    append(intake.repeated, item.id, cjson.encode({ facts }))
  end

  -- Counts the input of a new item. Returns its hold when it is held, or its refusal, or nothing.
  function repetition.note(context, intake, item)
    local rule, now = item.repeats, context.now
    if not rule then return nil end
    local record = record_of(intake, item.repeats_key, rule.windowMs)
    local input = record.held[rule.digest]
    if input and now - input.last < rule.windowMs then return hold_request(rule, input, now) end
    record.held[rule.digest] = nil
    if record.digest ~= rule.digest or now - record.since >= rule.windowMs then record.digest, record.count, record.since = rule.digest, 0, now end
    record.count = record.count + 1
    if rule.warn > 0 and record.count == rule.warn and now - (record.warnedAt or -rule.windowMs) >= rule.windowMs then
      record.warnedAt = now
      notify(intake, item, rule, record.count, false)
    end
    if rule.hold == 0 or record.count <= rule.hold then return nil end
    drop_quietest(record.held)
    input = { count = 0, after = rule.hold, at = now, last = now }
    record.held[rule.digest], record.count = input, 0
    notify(intake, item, rule, rule.hold + 1, true)
    return hold_request(rule, input, now)
  end

  -- Accepts a task that is held, outside of its lanes and caps until its release. Returns its answer.
  function repetition.admit_held(context, intake, id, task, hold)
    enter(context, task, 'pending')
    if task.deadline then append(intake.deadline_times, task.deadline, shard_member(context, id)) end
    if task.sla then append(intake.sla_times, task.sla, shard_member(context, id)) end
    task.hold = { gate = 'repeats', what = hold.what }
    add_note(context, task, hold.note)
    -- Its own time counts once it is released.
    local at = task.notBefore
    task.notBefore = nil
    gates.wait_at(context, id, task, HOLD)
    task.notBefore = at
    save_task(context, id, task)
    return { 'accepted', 'pending', 'repeats', count(context, 'hold=repeats:' .. escape_value(hold.what) .. '/') - 1 }
  end

  -- Writes the records that the call changed, and notifies the tenant.
  function repetition.write(context, intake)
    for key, known in pairs(intake.repeats) do redis.call('SET', key, cjson.encode(known.record), 'PX', known.window) end
    for position = 1, #intake.repeated, 2 do emit(context, intake.repeated[position], 'task.repeated', intake.repeated[position + 1]) end
  end
end
