import { idAt, type Ledger, readLaneIds, readLookup, sessionLookup } from '#shared/ledger/index.ts';
import { sessionLane } from '#shared/queue/index.ts';

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
  const [newest, { held, waiting }] = await Promise.all([
    readLookup(ledger, sessionLookup(ledger, tenant, session), { low: idAt(since), before: null, max: most }),
    readLaneIds(ledger, tenant, sessionLane(session), WAITING),
  ]);
  return [...new Set([...newest, ...held.keys(), ...waiting])].toSorted();
}
