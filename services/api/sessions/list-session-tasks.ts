import { idAt } from '#shared/ledger/list-tasks.ts';
import { readLookup } from '#shared/ledger/lookups/lookup.ts';
import { readLaneIds } from '#shared/ledger/read-lane.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { sessionLookup } from '#shared/ledger/task-lookups.ts';
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
  const [newest, { held, waiting }] = await Promise.all([
    readLookup(ledger, sessionLookup(ledger, tenant, session), { low: idAt(since), before: null, max: most }),
    readLaneIds(ledger, tenant, sessionLane(session), WAITING),
  ]);
  return [...new Set([...newest, ...held.keys(), ...waiting])].toSorted();
}
