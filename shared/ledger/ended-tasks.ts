import type { Told } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';

type EndedPlace = Pick<Ledger, 'redis' | 'keys'>;

/** A task that ended, whose end somebody outside the ledger has not heard of yet. */
export interface EndedTask {
  /** Its name in the set, for `forgetEnded`. */
  member: string;
  tenant: string;
  task: string;
  /** Milliseconds since the epoch. */
  endedAt: number;
}

export interface EndedQuery {
  kind: Told;
  most: number;
  /** Only what ended earlier, ms since the epoch. */
  before?: number | undefined;
}

/** The tasks of a shard whose end has to be told to `kind`, longest ended first; see `listEndedBefore`. */
export async function listEnded(ledger: EndedPlace, shard: number, kind: Told, most: number): Promise<EndedTask[]> {
  return await listEndedBefore(ledger, shard, { kind, most });
}

/** They stay until `forgetEnded`, so that a process that tells of them may die at any moment. */
export async function listEndedBefore(ledger: EndedPlace, shard: number, { kind, most, before }: EndedQuery): Promise<EndedTask[]> {
  // `0` comes after `/`.
  const end = before === undefined ? `(${kind}0` : `(${kind}/${stampOf(before)}`;
  const members = await ledger.redis.zrangebylex(ledger.keys.shard(shard).ended, `[${kind}/`, end, 'LIMIT', 0, most);
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
  return `${kind}/${stampOf(endedAt)}/${tenant}/${task}`;
}

function stampOf(at: number): string {
  return String(Math.floor(at)).padStart(13, '0');
}
