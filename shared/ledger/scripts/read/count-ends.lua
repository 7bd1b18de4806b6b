-- Counts ended tasks of a tenant by end, agent, source and failure, and how far these lookups differ from those by status.
-- KEYS[1] index: zset, lookups of all the tenant's tasks
-- ARGV[1] low: text, smallest id, or empty
-- ARGV[2] before: text, only smaller ids, or empty
-- ARGV[3] max: int, groups that are counted
-- ARGV[4] all: text, the statuses that end a task, separated by commas
-- ARGV[5] counted: text, those whose groups are counted, separated by commas, or empty
-- ARGV[6] after: text, `last` of the call before, or empty
-- RETURNS {lacking, surplus, last, groups}
--   last: where the next call continues, or '' at the end
--   groups: lookup and count of each that is not empty
local index, groups, visited = KEYS[1], {}, 0
local low, max, after, last = ARGV[1], tonumber(ARGV[3]), ARGV[6], ''
local before = ARGV[2] == '' and '\255' or ARGV[2]

local function count(prefix, from, to) return redis.call('ZLEXCOUNT', index, '[' .. prefix .. from, '(' .. prefix .. to) end

local lacking, surplus = 0, 0
for status in string.gmatch(ARGV[4], '[^,]+') do
  local missing = count('status=' .. status .. '/', '', '\255') - count('end=' .. status .. '/', '', '\255')
  if missing > 0 then lacking = lacking + missing else surplus = surplus - missing end
end

-- Counts the groups of one status behind `from`, as far as the call may.
local function count_groups(prefix, from)
  while visited < max do
    local member = redis.call('ZRANGEBYLEX', index, from, '(' .. prefix .. '\255', 'LIMIT', 0, 1)[1]
    if not member then return end
    local group = string.match(member, '^(.*/)')
    local tasks = count(group, low, before)
    if tasks > 0 then
      groups[#groups + 1] = string.sub(group, 1, -2)
      groups[#groups + 1] = tasks
    end
    visited, last = visited + 1, group
    from = '(' .. group .. '\255'
  end
end

local is_behind = after == ''
for status in string.gmatch(ARGV[5], '[^,]+') do
  local prefix = 'end=' .. status .. '/'
  local is_in = string.sub(after, 1, #prefix) == prefix
  is_behind = is_behind or is_in
  if is_behind then count_groups(prefix, is_in and '(' .. after .. '\255' or '[' .. prefix) end
end
return { lacking, surplus, visited == max and last or '', groups }
