-- What agents used, by the day: a hash of rows `<agent>|<source>|<model>`, each with its figures separated by spaces, as `usageRows` in
-- shared/tasks writes them. A day with its last row counts others as `*|<source>|*`.

-- Adds rows (`[[name, [figure, ...]], ...]`) to a day. `bounds`: maxRows and keepSeconds.
local function count_usage(day, rows, bounds)
  for _, row in ipairs(rows) do
    -- Tasks that ended alike have one table of rows.
    local name, figures = row[1], { unpack(row[2]) }
    local known = redis.call('HGET', day, name)
    if not known and redis.call('HLEN', day) >= bounds.maxRows then
      name = '*|' .. string.match(name, '^[^|]*|([^|]*)') .. '|*'
      known = redis.call('HGET', day, name)
    end
    local at = 0
    for figure in string.gmatch(known or '', '%S+') do
      at = at + 1
      if figures[at] then figures[at] = figures[at] + tonumber(figure) end
    end
    for position, figure in ipairs(figures) do figures[position] = string.format('%.0f', figure) end
    redis.call('HSET', day, name, table.concat(figures, ' '))
    if not known then redis.call('EXPIRE', day, bounds.keepSeconds) end
  end
end
