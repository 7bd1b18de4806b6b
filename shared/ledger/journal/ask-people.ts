import type { AttemptRef } from '../claim/leases.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { entryText, type NumberedEntry } from './entry.ts';

/** A question of a run, by its entry in the journal and its id. */
interface OpenedQuestion {
  entry: NumberedEntry;
  question: string;
}

/** `stored`: the task's state as the ledger keeps it from now on, for `settleAttempt`. `lost`: the attempt is over; nothing was asked. */
type AskAnswer = { kind: 'asked'; stored: string } | { kind: 'lost' };

/** Opens a question of a run that goes on running. Whoever sees to waits has to do so then, as for a run that is suspended. May be repeated. */
export async function askWhileRunning(
  ledger: Ledger,
  { tenant, id, token }: Omit<AttemptRef, 'lane'>,
  { entry, question }: OpenedQuestion,
): Promise<AskAnswer> {
  const own = ledger.keys.tenant(tenant);
  const { leases, waits, signal } = shardKeys(ledger, tenant);
  const { events, tasks } = ledger.settings;
  const options = { tenant, channel: signal, maxEvents: events.maxPerTenant, maxTimelineBytes: tasks.maxTimelineBytes };
  const text = entryText(ledger.seal, { tenant, id }, entry);
  const keys = [own.states, own.live, own.events, own.bodies, leases, waits, own.journal(id)];
  const reply = await ledger.run('ask-people', keys, [JSON.stringify(options), id, token, entry.seq, text, question]);
  const [kind, stored = ''] = reply as [AskAnswer['kind'], string?];
  return kind === 'lost' ? { kind } : { kind, stored };
}
