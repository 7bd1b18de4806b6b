-- Whether two messages come from one sender with the same rights: only those become one turn, or go into each other's run.
local function same_sender(one, other)
  return one.user == other.user and one.visitor == other.visitor
end
