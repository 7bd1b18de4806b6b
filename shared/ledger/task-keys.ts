import type { Ledger } from './ledger.ts';

/** Where a task is, and which lane it is in: what the scripts that move it need to find their keys. */
export interface TaskPlace {
  tenant: string;
  id: string;
  lane: string | null;
}

/** The first six keys of every script that opens the book. */
export function bookKeys(ledger: Ledger, tenant: string): string[] {
  const keys = ledger.keys.tenant(tenant);
  return [keys.states, keys.live, keys.index, keys.events, ledger.keys.shard(ledger.keys.shardOf(tenant)).outbox, keys.bodies];
}

/** The keys of the scripts that move one task, in their order; see the scripts' headers. */
export function movingKeys(ledger: Ledger, { tenant, id, lane }: TaskPlace): string[] {
  const keys = ledger.keys.tenant(tenant);
  const name = lane ?? laneOfTask(id);
  return [...bookKeys(ledger, tenant), keys.laneHeld(name), keys.laneWait(name)];
}

/** The lane that a task without one gets when it is given input; see `offerInput`. Whoever read it before that finds it by this. */
export function laneOfTask(id: string): string {
  return `task:${id}`;
}

/** The keys of the lanes of those that have one, in a call for many of a tenant's tasks. */
export function laneKeys(ledger: Ledger, tenant: string, places: readonly Pick<TaskPlace, 'lane'>[]): string[] {
  const keys = ledger.keys.tenant(tenant);
  return places.flatMap(({ lane }) => (lane === null ? [] : [keys.laneHeld(lane), keys.laneWait(lane)]));
}
