import type { z } from 'zod';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readSession } from '#shared/sessions/session-record.ts';
import { transcriptLength } from '#shared/sessions/transcript-length.ts';
import { viewSession, type sessionViewSchema } from './session-view.ts';

/** A session as it is now. */
export async function showSession(ledger: Ledger, tenant: string, id: string): Promise<z.infer<typeof sessionViewSchema>> {
  const [record, length] = await Promise.all([readSession({ ledger }, tenant, id), transcriptLength(ledger, tenant, id)]);
  return viewSession(record, length);
}
