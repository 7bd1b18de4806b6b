import { backlogPlace, type HoldHead, type Ledger, listHoldHeads, releaseFirstHeld } from '../../ledger/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { type Candidate, hasRoomFor, isCapable } from './choose-daemon.ts';
import { type Needs, parseNeeds } from './needs.ts';

const MAX_PRIORITY = 10;
/** Different needs of one tenant's held tasks that are compared with a daemon. */
const MAX_NEEDS = 2000;

/** What tasks of a tenant that wait for a daemon need, and where the first of each stands. */
export interface HeldNeeds {
  needs: Needs;
  head: HoldHead;
}

/** Where a task would stand among those that are held, to compare with their places. */
export function heldPlace(state: TaskState, id: string): string {
  return `${String(MAX_PRIORITY - state.priority).padStart(2, '0')}/${backlogPlace(state, id)}`;
}

/** One call, however many tasks are held. */
export async function readHeldNeeds(ledger: Ledger, tenant: string): Promise<HeldNeeds[]> {
  const heads = await listHoldHeads(ledger, tenant, 'daemon', MAX_NEEDS);
  return heads.flatMap((head) => {
    const needs = parseNeeds(head.what);
    return needs ? [{ needs, head }] : [];
  });
}

/** A daemon with so many slots that no task uses, nor is on its way to. */
interface FreeDaemon extends Candidate {
  tenant: string;
  room: number;
}

/** Releases as many held tasks as the daemon has room for, the best first. Returns how many. */
export async function releaseFor(ledger: Ledger, held: readonly HeldNeeds[], { tenant, room, ...daemon }: FreeDaemon): Promise<number> {
  const fitting = held.filter(({ needs }) => isCapable(daemon, needs) && hasRoomFor(daemon, needs));
  if (fitting.length === 0) return 0;
  const holds = fitting.map(({ head: { what } }) => ({ gate: 'daemon', what }) as const);
  return (await releaseFirstHeld(ledger, tenant, holds, room)).length;
}
