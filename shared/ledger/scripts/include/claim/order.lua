-- The order of the slots: which ticket a worker's next free slot gets. `pool` says what runs in its slots, and what may start in them:
--   free, ordinary: slots for any ticket, and of these for such that are not critical; people: of these, those that are kept for people
--   queues: of each that it serves, `weight` and `running`; bands: of each, `share` and `running`
--   maxLow, highFrom, lowTo (priorities), lowAgeMs; foreign: agents, and versions of them (`<agent>@<version>`), that
--   others have and it lacks, between commas
-- `shared/ledger/order` says the same in TypeScript; a test compares the two, step by step.

local choose_head
do
  local function is_older(one, other)
    if one.standing ~= other.standing then return one.standing < other.standing end
    return one.id < other.id
  end

  local function band_of(context, pool, head)
    if head.priority >= pool.highFrom then return 'high' end
    return (head.priority > pool.lowTo or context.now - head.accepted >= pool.lowAgeMs) and 'normal' or 'low'
  end

  local BANDS = { high = 1, normal = 2, low = 3 }

  local function goes_before(one, other)
    if one.share ~= other.share then return one.share < other.share end
    if one.band ~= other.band then return BANDS[one.band] < BANDS[other.band] end
    if one.use ~= other.use then return one.use < other.use end
    if one.priority ~= other.priority then return one.priority > other.priority end
    return is_older(one, other)
  end

  -- The best ticket of those that share the slots: of the band that is furthest below its share, then of the queue that is furthest below what
  -- it is sure of, then by priority, turn and age.
  local function choose_shared(context, pool)
    local heads, has_others = {}, false
    for queue, own in pairs(pool.queues) do
      for _, head in ipairs(queue ~= 'critical' and find_heads(context, pool, queue) or {}) do
        head.band = band_of(context, pool, head)
        head.share = (pool.bands[head.band].running + 1) / pool.bands[head.band].share
        head.use = own.running / own.weight
        has_others = has_others or head.band ~= 'low'
        heads[#heads + 1] = head
      end
    end
    local best, count = nil, 0
    for _, head in ipairs(heads) do
      if head.band ~= 'low' or not has_others or pool.bands.low.running < pool.maxLow then
        count = count + 1
        if not best or goes_before(head, best) then best = head end
      end
    end
    if best then best.is_only = count == 1 and #heads == 1 end
    return best
  end

  -- The best ticket that a key waits for and that may start, one for each key; nil for none.
  local function choose_awaited(context, pool)
    local best
    for _, text in ipairs(redis.call('ZRANGE', awaited_key(context.jobs), 0, MAX_FOREIGN - 1)) do
      local queue, key = string.match(text, '^[^/]+'), awaiting_key(text)
      if not redis.call('ZSCORE', context.ready, text) then
        redis.call('ZREM', awaited_key(context.jobs), text)
      elseif pool.queues[queue] and queue ~= 'critical' and not pool.closed[queue] and not pool.keys[key] and has_agent(pool, text) then
        local head = read_ticket(pool, queue, text)
        head.key = key
        if not best or head.priority > best.priority or head.priority == best.priority and is_older(head, best) then best = head end
      end
    end
    return best
  end

  -- The best ticket of a person who waits: of a chat, else one that a key waits for.
  local function choose_for_people(context, pool)
    local best
    for _, head in ipairs(pool.queues.chat and find_heads(context, pool, 'chat') or {}) do
      if not best or head.priority > best.priority or head.priority == best.priority and is_older(head, best) then best = head end
    end
    if best or pool.awaited <= 0 then return best end
    return choose_awaited(context, pool)
  end

  -- The ticket that gets the next slot, or nil: critical ones first, then people in the slots kept for them, then the best of all others.
  function choose_head(context, pool)
    local critical = pool.free > 0 and pool.queues.critical and find_heads(context, pool, 'critical')[1]
    if critical then return critical end
    if pool.ordinary <= 0 then return nil end
    if pool.people > 0 then
      local head = choose_for_people(context, pool)
      if head then
        head.band, head.is_for_people = head.band or band_of(context, pool, head), true
        return head
      end
    end
    return pool.ordinary > pool.people and choose_shared(context, pool) or nil
  end
end
