import type { TaskState } from '../../tasks/index.ts';
import { parseState } from '../codec/state.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { isReadyForTicket } from '../read/read-turns.ts';
import { readStates } from '../read/read-states.ts';
import type { OutboxTicket } from './outbox.ts';

/** Members that are checked together. */
const PAGE = 200;

/**
 * Drops what is counted as a job of BullMQ and waits no more, so that no room is lost for good, and the idle slots of workers that are gone.
 * Returns how many jobs it dropped.
 */
export async function repairJobs(ledger: Ledger, shard: number): Promise<number> {
  const { jobs } = ledger.keys.shard(shard);
  await ledger.run('drop-idle', [`${jobs}:idle`], []);
  let dropped = 0;
  for (let from = 0; ; from += PAGE) {
    const members = await ledger.redis.zrange(jobs, String(from), String(from + PAGE - 1));
    const stale = await staleOf(ledger, members);
    if (stale.length > 0) dropped += await ledger.redis.zrem(jobs, ...stale);
    if (members.length < PAGE) return dropped;
    from -= stale.length;
  }
}

async function staleOf(ledger: Ledger, members: readonly string[]): Promise<string[]> {
  const tasks = members.map((member) => ({ member, tenant: member.split('/')[0] ?? '', id: member.split('/')[1] ?? '' }));
  const found = [...Map.groupBy(tasks, ({ tenant }) => tenant)].map(async ([tenant, own]) => {
    const ids = own.map(({ id }) => id);
    const states = await readStates(ledger, tenant, ids);
    return own.filter((_, at) => !isReadyForTicket(states[at] ?? null)).map(({ member }) => member);
  });
  return (await Promise.all(found)).flat();
}

/** Sees to it that a granted task stands at `slot`. Returns the state of one whose ticket is to have a job; null when it needs none. */
export async function reissueTicket(ledger: Ledger, tenant: string, { task, number }: OutboxTicket): Promise<TaskState | null> {
  const keys = ledger.keys.tenant(tenant);
  const { ready, jobs } = shardKeys(ledger, tenant);
  const [kind, state] = (await ledger.run('reissue-ticket', [keys.states, keys.bodies, ready, jobs], [task, number, tenant])) as [
    string,
    string?,
  ];
  return kind === 'needless' ? null : parseState(`${state}`, null);
}
