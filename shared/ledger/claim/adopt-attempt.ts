import type { TaskState } from '../../tasks/index.ts';
import { parseBody, type StoredBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { type AttemptRef, leaseMember } from './leases.ts';

/** `gone`: the attempt is not this daemon's, or runs no more. `before`: the worker that held it. */
export type AdoptAnswer = { kind: 'adopted'; body: StoredBody; state: TaskState; stored: string; before: string } | { kind: 'gone' };

/**
 * Moves a running attempt to the hub that its daemon connected to, under a new lease and the same token. The worker that held it before
 * cannot settle it any more.
 */
export async function adoptAttempt(
  ledger: Ledger,
  attempt: Omit<AttemptRef, 'lane'>,
  { worker, daemon }: { worker: string; daemon: string },
): Promise<AdoptAnswer> {
  const { states, bodies } = ledger.keys.tenant(attempt.tenant);
  const { leases, signals } = shardKeys(ledger, attempt.tenant);
  const args = [attempt.id, attempt.token, leaseMember(attempt), worker, daemon, ledger.settings.worker.leaseMs];
  const reply = (await ledger.run('adopt-attempt', [states, bodies, leases, signals], args)) as [AdoptAnswer['kind'], ...string[]];
  const [kind, stored = '', bodyText = '', before = ''] = reply;
  if (kind === 'gone') return { kind };
  const body = parseBody(bodyText);
  return { kind, body, state: parseState(stored, body.first), stored, before };
}
