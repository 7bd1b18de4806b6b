import { type Ledger, readLaneIds } from '../ledger/index.ts';
import { cancelTree, sessionLane } from '../queue/index.ts';

export interface StopCounts {
  /** Tasks that had not started. */
  withdrawn: number;
  /** Tasks that run and were told to stop. */
  stopped: number;
}

/** Tasks that one stop reaches: more than may wait in a session by chat. */
const MOST = 10_000;
const AT_ONCE = 50;

/**
 * Stops a session: first what waits, from the end of the line, so that nothing of it starts in between, then who holds the
 * lane, each with what it delegated. What arrives from now on is not touched.
 */
export async function stopSession(ledger: Ledger, tenant: string, id: string, reason: string): Promise<StopCounts> {
  const { waiting, held } = await readLaneIds(ledger, tenant, sessionLane(id), MOST);
  const counts: StopCounts = { withdrawn: 0, stopped: 0 };
  const stop = async (task: string): Promise<void> => {
    const { answer } = await cancelTree(ledger, tenant, task, reason);
    if (answer.kind === 'cancelled') counts.withdrawn += 1;
    if (answer.kind === 'stopping') counts.stopped += 1;
  };
  const line = waiting.toReversed();
  for (let from = 0; from < line.length; from += AT_ONCE) await Promise.all(line.slice(from, from + AT_ONCE).map(stop));
  await Promise.all([...held.keys()].map(stop));
  return counts;
}
