-- Keeps a task for its time, which `promote-due` compares with this server's clock: a worker's clock decides nothing.
local function wait_until_due(book, due, id, at)
  redis.call('ZADD', due, at, book.tenant .. '/' .. id)
end

-- Takes the grant of a task away until a time; its lane stays its own. What it leaves under the caps is the caller's to promote.
local function put_off(book, due, id, task, gate, at)
  unlist(book, id, task)
  task.granted, task.gate, task.notBefore = nil, gate, at
  redis.call('ZADD', book.live, 0, task.status .. '/' .. id)
  wait_until_due(book, due, id, at)
  save_task(book, id, task)
end
