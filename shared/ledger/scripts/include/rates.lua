-- Generic cell rate algorithm: one time per class and window says when the bucket is empty again.
-- Returns 0 and the times to write when the task may come in, else how many ms until all of them let it in, and for which
-- class that is so long.
local function check_rates(book, rates, class, redis_key)
  local writes, worst, worst_scope = {}, 0, nil
  for _, scope in ipairs({ class, 'all' }) do
    for window, rule in pairs((rates or {})[scope] or {}) do
      local field = scope .. ':' .. window
      local tat = math.max(tonumber(redis.call('HGET', redis_key, field) or 0), book.now)
      local over = tat + rule.everyMs - book.now - rule.burst * rule.everyMs
      if over > worst then worst, worst_scope = over, scope end
      writes[#writes + 1] = field
      writes[#writes + 1] = tat + rule.everyMs
    end
  end
  if worst > 0 then return worst, worst_scope end
  return 0, writes
end
