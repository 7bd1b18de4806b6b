import type { TaskState } from '../../tasks/index.ts';
import { parseState } from '../codec/state.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import type { AttemptRef } from './leases.ts';

/** `known`: it had begun before. `lost`: the attempt is over. */
type BeginAnswer = { kind: 'begun' | 'known'; state: TaskState; stored: string } | { kind: 'lost' };

/** Begins an attempt that was left to its daemon, because the daemon has accepted it. May be repeated. */
export async function beginAttempt(ledger: Ledger, { tenant, id, token }: Omit<AttemptRef, 'lane'>): Promise<BeginAnswer> {
  const { states, events } = ledger.keys.tenant(tenant);
  const { leases, signal } = shardKeys(ledger, tenant);
  const { settings } = ledger;
  const bounds = { maxEvents: settings.events.maxPerTenant, maxTimelineBytes: settings.tasks.maxTimelineBytes };
  const options = JSON.stringify({ tenant, channel: signal, ...bounds });
  const reply = (await ledger.run('begin-attempt', [states, events, leases], [options, id, token])) as [BeginAnswer['kind'], string?];
  const [kind, stored = ''] = reply;
  return kind === 'lost' ? { kind } : { kind, stored, state: parseState(stored, null) };
}
