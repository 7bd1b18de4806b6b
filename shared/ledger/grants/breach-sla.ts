import type { TaskState } from '../../tasks/index.ts';
import { parseState } from '../codec/state.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/** A task whose sla has passed. */
export interface PassedSla {
  tenant: string;
  id: string;
}

/** The tasks of a shard whose sla passed by Redis's clock (`now`, ms since the epoch) and was not noted yet, at most `max`, the earliest first. */
export async function listPassedSlas({ redis, keys }: Ledger, shard: number, now: number, max: number): Promise<PassedSla[]> {
  const members = await redis.zrangebyscore(keys.shard(shard).slas, '-inf', now, 'LIMIT', 0, max);
  return members.map((member) => {
    const [tenant = '', id = ''] = member.split('/', 2);
    return { tenant, id };
  });
}

/**
 * Notes that a task's sla has passed. Returns its state when it had not ended by then, to the first caller only; null when there is
 * nothing to say.
 */
export async function breachSla(ledger: Ledger, { tenant, id }: PassedSla): Promise<TaskState | null> {
  const { states, bodies, events } = ledger.keys.tenant(tenant);
  const { slas, signal } = shardKeys(ledger, tenant);
  const { settings } = ledger;
  const bounds = { maxEvents: settings.events.maxPerTenant, maxTimelineBytes: settings.tasks.maxTimelineBytes };
  const options = JSON.stringify({ tenant, channel: signal, ...bounds });
  const [kind, state] = (await ledger.run('breach-sla', [states, bodies, events, slas], [options, id])) as [string, string?];
  return kind === 'breached' ? parseState(`${state}`, null) : null;
}
