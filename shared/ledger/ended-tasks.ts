import type { Told } from '../tasks/task.ts';
import type { Ledger } from './ledger.ts';

/** A task that ended, whose end somebody outside the ledger has not heard of yet. */
export interface EndedTask {
  /** Its name in the set, for `forgetEnded`. */
  member: string;
  tenant: string;
  task: string;
  /** Milliseconds since the epoch. */
  endedAt: number;
}

/**
 * The tasks of a shard whose end has to be told to `kind`, longest ended first, at most `most`. They stay until `forgetEnded`, so
 * that whoever tells of them may die at any moment.
 */
export async function listEnded(ledger: Ledger, shard: number, kind: Told, most: number): Promise<EndedTask[]> {
  const members = await ledger.redis.zrangebylex(ledger.keys.shard(shard).ended, `[${kind}/`, `(${kind}0`, 'LIMIT', 0, most);
  return members.map((member) => {
    const [, endedAt = '0', tenant = '', task = ''] = member.split('/');
    return { member, tenant, task, endedAt: Number(endedAt) };
  });
}

/** Drops what was told. */
export async function forgetEnded(ledger: Ledger, shard: number, members: readonly string[]): Promise<void> {
  if (members.length > 0) await ledger.redis.zrem(ledger.keys.shard(shard).ended, ...members);
}

/** The name of a task's end in the set; ids of tenants and tasks hold no `/`. The digits keep their count for three centuries. */
export function endedMember(kind: Told, endedAt: number, tenant: string, task: string): string {
  return `${kind}/${String(endedAt).padStart(13, '0')}/${tenant}/${task}`;
}
