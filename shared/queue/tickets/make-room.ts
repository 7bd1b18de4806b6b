import { type Ledger, type Preemption, preemptTasks } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';

export interface MakeRoomPorts {
  readonly ledger: Ledger;
  readonly log: Log;
}

/** What is known of a task that a critical one may be. */
interface Arrived {
  queue: string;
  gate?: string | null | undefined;
}

/** Whether it is critical and waits for what a low task may have. */
export function mayNeedRoom({ queue, gate }: Arrived): boolean {
  return queue === 'critical' && (gate === 'cap' || gate === 'lane');
}

/**
 * Makes room for a task that waits at its tenant's caps or in a lane, if it is critical. Never rejects: the chore `promote-backlogs` makes up for what
 * fails here.
 */
export async function makeRoomFor(ports: MakeRoomPorts, tenant: string, { queue, gate }: Arrived): Promise<void> {
  if (!mayNeedRoom({ queue, gate })) return;
  try {
    await makeRoom(ports, tenant);
  } catch (error) {
    ports.log.debug({ err: error, tenant }, 'no room could be made for a critical task; a chore tries again');
  }
}

/** Makes room for all critical tasks of a tenant that wait at its caps or for shared lanes. */
export async function makeRoom({ ledger, log }: MakeRoomPorts, tenant: string): Promise<Preemption[]> {
  const made = await preemptTasks(ledger, tenant);
  for (const { task, by, how } of made) {
    const what = how === 'preempted' ? 'its worker is to hand it back' : 'it did not run, and waits for room again';
    log.info({ event: 'task.makes-room', task, tenant, by, how }, `a critical task gets its place: ${what}`);
  }
  return made;
}
