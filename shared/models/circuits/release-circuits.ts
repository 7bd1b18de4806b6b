import { countHeld, type Ledger, releaseHeld } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import { checkCircuit } from './circuits.ts';

/** Circuits checked per shard in one round, and tasks released of each. */
const PAGE = 100;

/** Releases tasks that circuits hold: one to try an open circuit again, all of a closed one. What is left is for the next round. */
export async function releaseCircuits(ledger: Ledger): Promise<void> {
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    const { circuitsDue } = ledger.keys.shard(shard);
    const due = await ledger.redis.zrangebyscore(circuitsDue, '-inf', await redisNow(ledger.redis), 'LIMIT', 0, PAGE);
    for (const member of due) await releaseDue(ledger, member);
  }
}

async function releaseDue(ledger: Ledger, member: string): Promise<void> {
  const at = member.indexOf('/');
  const [tenant, name] = [member.slice(0, at), member.slice(at + 1)];
  const hold = { gate: 'circuit', what: name } as const;
  const held = await countHeld(ledger, tenant, hold);
  const which = await checkCircuit(ledger, { tenant, name, held });
  if (which !== 'none') await releaseHeld(ledger, tenant, hold, which === 'one' ? 1 : PAGE);
}
