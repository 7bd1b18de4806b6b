import type { TaskPlace } from './task-keys.ts';

/** One attempt: its task and its fencing token. */
export interface AttemptRef extends TaskPlace {
  token: number;
}

/** The attempt's name among the shard's leases. Tenant and task ids hold no `/`. */
export function leaseMember({ tenant, id, token }: Omit<AttemptRef, 'lane'>): string {
  return `${tenant}/${id}/${token}`;
}

/** The parts of a lease's name. */
export function parseLease(member: string): Omit<AttemptRef, 'lane'> {
  const [tenant = '', id = '', token = '0'] = member.split('/');
  return { tenant, id, token: Number(token) };
}
