-- Changes the priority, and with it perhaps the queue, of a task that does not run. One with a ticket is owed a new one; one
-- that is low now goes back in line when the cap on low ones is full, and the caps that it leaves let others through.
-- KEYS[1] states: the tenant's tasks' states
-- KEYS[2] live: lookups of the tenant's tasks that have not ended
-- KEYS[3] index: lookups of all the tenant's tasks
-- KEYS[4] events: the tenant's event stream
-- KEYS[5] outbox: the shard's tickets to add
-- KEYS[6] bodies: the tenant's tasks' bodies
-- ARGV[1] options: JSON of tenant, channel, bounds, caps
-- ARGV[2] id: the task's
-- ARGV[3] priority: 1 to 10
-- ARGV[4] queue: the one it belongs to now
-- ARGV[5] class: for caps, with its new lowness
-- RETURNS {granted, 'changed', state} | {granted, 'running'} | {granted, 'gone'}; granted: id, state and body of each task let through
-- include: transitions
-- include: states
-- include: book
-- include: grants
local book = open_book(ARGV[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
local id = ARGV[2]
local task = load_task(book, id)
if not task or task.completedAt then return { {}, 'gone' } end
if task.status == 'running' then return { {}, 'running' } end

unlist(book, id, task)
task.priority, task.queue, task.class = tonumber(ARGV[3]), ARGV[4], ARGV[5]
if task.granted and has_room(book, task.class) then
  redis.call('ZADD', book.live, 0, granted_member(task, id))
elseif task.granted or task.gate == 'cap' then
  task.granted = nil
  wait_in_backlog(book, id, task)
else
  redis.call('ZADD', book.live, 0, task.status .. '/' .. id)
end
if task.granted then
  task.ticket = task.ticket + 1
  owe_tickets(book, id .. '.' .. task.ticket)
end
save_task(book, id, task)
emit(book, id, 'task.reprioritized')
promote_backlog(book)
return { let_through(book), 'changed', cjson.encode(load_task(book, id)) }
