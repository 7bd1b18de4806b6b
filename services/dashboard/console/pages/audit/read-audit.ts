import { z } from 'zod';
import { callApi } from '../../api/call-api.ts';
import { listOf } from '../../api/records.ts';

const entrySchema = z.object({
  id: z.string(),
  at: z.string(),
  actor: z.object({ kind: z.string(), id: z.string(), name: z.string(), tenant: z.string().nullable() }),
  via: z.string(),
  from: z.string().nullable(),
  action: z.string(),
  actionText: z.string(),
  object: z.string().nullable(),
  fields: z.array(z.string()),
  outcome: z.string(),
  code: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof entrySchema>;

const pageSchema = listOf(entrySchema).extend({ nextCursor: z.string().nullable() });
const LIMIT = 100;

/** `search`: the filters as the API's query. */
export async function readAudit(search: string, cursor: string | null, signal: AbortSignal): Promise<z.infer<typeof pageSchema>> {
  const query = new URLSearchParams(search);
  query.set('limit', String(LIMIT));
  if (cursor !== null) query.set('cursor', cursor);
  return await callApi(pageSchema, `/v1/audit?${query}`, { signal });
}
