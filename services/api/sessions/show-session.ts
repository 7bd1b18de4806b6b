import type { z } from 'zod';
import type { Ledger } from '#shared/ledger/index.ts';
import { readSession, transcriptLength } from '#shared/sessions/index.ts';
import { viewSession, type sessionViewSchema } from './session-view.ts';

/** A session as it is now. */
export async function showSession(ledger: Ledger, tenant: string, id: string): Promise<z.infer<typeof sessionViewSchema>> {
  const [record, length] = await Promise.all([readSession({ ledger }, tenant, id), transcriptLength(ledger, tenant, id)]);
  return viewSession(record, length);
}
