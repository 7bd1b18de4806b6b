import { idAt, type Ledger, lookupName, lookupValue } from '../ledger/index.ts';

/** What the index lists a task of a session under, before the session's id. */
const PREFIX = 'session=';
/** `/` and the task's id. */
const SUFFIX_CHARACTERS = 27;
/** Members read at once: of a session with one task, each is another one. */
const READ = 50;
/** Clocks of the processes that make ids may differ by as much. */
const AHEAD_MS = 86_400_000;

/**
 * The next ids of sessions that have tasks, at most so many, in the order of the index: each step jumps over the rest of a
 * session's tasks, so that the cost is in sessions and not in tasks.
 */
export async function sessionIdsAfter(ledger: Ledger, tenant: string, after: string | null, most: number): Promise<string[]> {
  const { index } = ledger.keys.tenant(tenant);
  const found = new Set<string>();
  let from = after === null ? `[${PREFIX}` : behind(after);
  while (found.size < most) {
    // The character after `=` ends the range, whatever letters the ids begin with.
    const members = await ledger.redis.zrangebylex(index, from, '(session>', 'LIMIT', 0, READ);
    const ids = members.map((member) => lookupValue(member.slice(PREFIX.length, -SUFFIX_CHARACTERS)));
    for (const id of ids) if (found.size < most) found.add(id);
    const last = ids.at(-1);
    if (last === undefined || members.length < READ) break;
    from = behind(last);
  }
  return [...found];
}

/** Behind the last task that the session can have by now. */
function behind(id: string): string {
  return `(${lookupName('session', id)}/${idAt(Date.now() + AHEAD_MS)}`;
}
