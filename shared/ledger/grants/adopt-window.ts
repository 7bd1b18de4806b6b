import type { Ledger } from '../ledger.ts';
import { readState } from '../read/read-states.ts';
import { reissueTicket } from './repair-tickets.ts';

/** Tickets that are adopted together. */
const PAGE = 200;

/**
 * Lets the tasks stand at `slot` whose tickets 0.1 had given to BullMQ alone, and which no worker of it claims any more. Returns how many. Does
 * nothing the second time.
 */
export async function adoptWindow(ledger: Ledger, shard: number): Promise<number> {
  const { window } = ledger.keys.shard(shard);
  let adopted = 0;
  for (;;) {
    const members = await ledger.redis.zrange(window, '0', String(PAGE - 1));
    if (members.length === 0) return adopted;
    const answers = await Promise.all(members.map((member) => adopt(ledger, member)));
    adopted += answers.filter(Boolean).length;
    await ledger.redis.zrem(window, ...members);
  }
}

async function adopt(ledger: Ledger, member: string): Promise<boolean> {
  const [tenant = '', id = ''] = member.split('/');
  const state = await readState(ledger, tenant, id);
  return state !== null && (await reissueTicket(ledger, tenant, { task: id, number: state.ticket })) !== null;
}
