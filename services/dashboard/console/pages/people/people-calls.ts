import { z } from 'zod';
import { callApi } from '../../api/call-api.ts';
import { listOf } from '../../api/records.ts';

const personSchema = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  roles: z.array(z.object({ tenant: z.string(), scopes: z.array(z.string()) })),
  disabled: z.boolean(),
  firstSignInAt: z.string(),
  lastSignInAt: z.string(),
});
/** Somebody who signed in at the identity provider. */
export type KnownPerson = z.infer<typeof personSchema>;

const pageSchema = listOf(personSchema).extend({ nextCursor: z.string().nullable() });
const LIMIT = 100;

export async function readPeople(cursor: string | null, signal: AbortSignal): Promise<z.infer<typeof pageSchema>> {
  const query = new URLSearchParams({ limit: String(LIMIT), ...(cursor === null ? {} : { cursor }) });
  return await callApi(pageSchema, `/v1/people?${query}`, { signal });
}

const pathOf = (id: string): string => `/v1/people/${encodeURIComponent(id)}`;

export async function changePerson(id: string, changes: { disabled: boolean }): Promise<void> {
  await callApi(z.unknown(), pathOf(id), { method: 'PATCH', body: changes });
}

/** Signs the person out of all browsers. */
export async function endSignIns(id: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(id)}/sign-ins`, { method: 'DELETE' });
}
