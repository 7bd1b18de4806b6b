import { z } from 'zod';
import type { Ledger } from '../ledger.ts';

/** An entry of a run's journal that waits for sub-tasks. */
interface DelegationName {
  tenant: string;
  /** The parent. */
  id: string;
  seq: number;
}

const failureSchema = z.object({ code: z.string(), message: z.string() });

/** The sub-tasks of an entry once all of them were accepted or refused. */
const delegationSchema = z.object({
  /** In the order in which the run gave them. */
  ids: z.array(z.string()),
  /** Why some were not accepted, by their ids. */
  refused: z.record(z.string(), failureSchema),
});

export type Delegation = z.infer<typeof delegationSchema>;

/** Notes that the sub-tasks of an entry were accepted or refused; what was noted first stands. */
export async function noteDelegation(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id, seq }: DelegationName,
  delegation: Delegation,
): Promise<void> {
  const journal = keys.tenant(tenant).journal(id);
  await redis.hsetnx(journal, fieldOf(seq), JSON.stringify(delegation));
  await redis.hdel(journal, LATER);
}

/** Notes why some sub-tasks of an entry are not accepted yet. */
export async function noteLater(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id, seq }: DelegationName,
  reason: string,
): Promise<void> {
  const journal = keys.tenant(tenant).journal(id);
  await redis.hset(journal, LATER, reason);
  // Another process may have had them accepted since they were refused here.
  if ((await redis.hexists(journal, fieldOf(seq))) === 1) await redis.hdel(journal, LATER);
}

/** Why some sub-tasks that the run of a task waits for are not accepted yet; null for none. */
export async function readLater(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id }: Pick<DelegationName, 'tenant' | 'id'>,
): Promise<string | null> {
  return await redis.hget(keys.tenant(tenant).journal(id), LATER);
}

/** The sub-tasks of an entry; null while some of them may still be accepted. */
export async function readDelegation(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id, seq }: DelegationName,
): Promise<Delegation | null> {
  const text = await redis.hget(keys.tenant(tenant).journal(id), fieldOf(seq));
  return text === null ? null : delegationSchema.parse(JSON.parse(text));
}

/** The field of a journal that says why sub-tasks are not accepted yet. */
const LATER = 'later';

function fieldOf(seq: number): string {
  return `children:${seq}`;
}
