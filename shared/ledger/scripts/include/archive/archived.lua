-- Ended tasks whose long parts are in the archive: `shared/ledger/archive` writes their bodies, whose last member says where the parts are.

-- Where a task's parts are, `<object> <bytes> <digest>`, or nil. The last member of any other body is no text, so that nothing which a sender wrote
-- can be taken for this one.
local function archived_at(body)
  if not body or string.sub(body, -2) ~= '"}' then return nil end
  return string.match(body, ',"archived":"([^"]*)"}$')
end

-- The digest of all that the archive takes of a task, which changes with any of it. `journal`: fields and values in turn.
local function fingerprint_of(state, body, output, result, journal)
  local fields, values = {}, {}
  for at = 1, #journal, 2 do
    fields[#fields + 1] = journal[at]
    values[journal[at]] = journal[at + 1]
  end
  table.sort(fields)
  local texts = { state, body, output or '-', result or '-' }
  for _, field in ipairs(fields) do
    texts[#texts + 1] = field
    texts[#texts + 1] = values[field]
  end
  for at, text in ipairs(texts) do texts[at] = #text .. ':' .. text end
  return redis.sha1hex(table.concat(texts))
end
