import type { Ledger } from '../ledger/index.ts';
import { listTurns } from './list-turns.ts';

/** How many turns a session's transcript has, up to `sessions.transcriptTurns`. Its bytes are not looked at. */
export async function transcriptLength(ledger: Ledger, tenant: string, session: string): Promise<number> {
  return (await listTurns(ledger, { tenant, session })).length;
}
