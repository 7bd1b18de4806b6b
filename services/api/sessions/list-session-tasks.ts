import { idAt } from '#shared/ledger/list-tasks.ts';
import { readLaneIds } from '#shared/ledger/read-lane.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { sessionLane } from '#shared/queue/session-lane.ts';

/** Tasks of the lane's line that are looked at. */
const WAITING = 100;

export interface SessionTasks {
  tenant: string;
  session: string;
  /** Accepted since, ms by the clock of whoever accepted. */
  since: number;
  most: number;
}

/**
 * Ids of a session's tasks, oldest first: the newest ones, and those in its lane, however old. A lane is looked at last, so that
 * whoever comes in between is among the first.
 */
export async function listSessionTasks(ledger: Ledger, { tenant, session, since, most }: SessionTasks): Promise<string[]> {
  const prefix = `session=${session}/`;
  const [newest, { held, waiting }] = await Promise.all([
    ledger.redis.zrevrangebylex(ledger.keys.tenant(tenant).index, `(${prefix}\u00ff`, `[${prefix}${idAt(since)}`, 'LIMIT', 0, most),
    readLaneIds(ledger, tenant, sessionLane(session), WAITING),
  ]);
  // Of a session whose id begins with this one and a slash, the rest is no id.
  const ids = newest.map((member) => member.slice(prefix.length)).filter((id) => !id.includes('/'));
  return [...new Set([...ids, ...held.keys(), ...waiting])].toSorted();
}
