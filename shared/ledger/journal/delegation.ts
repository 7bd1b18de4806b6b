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
  await redis.hsetnx(keys.tenant(tenant).journal(id), fieldOf(seq), JSON.stringify(delegation));
}

/** The sub-tasks of an entry; null while some of them may still be accepted. */
export async function readDelegation(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id, seq }: DelegationName,
): Promise<Delegation | null> {
  const text = await redis.hget(keys.tenant(tenant).journal(id), fieldOf(seq));
  return text === null ? null : delegationSchema.parse(JSON.parse(text));
}

function fieldOf(seq: number): string {
  return `children:${seq}`;
}
