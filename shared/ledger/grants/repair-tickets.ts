import type { TaskQueue } from '../../config/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { parseFullState } from '../codec/state.ts';
import { shardKeys, windowOptions } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { isReadyForTicket } from '../read/read-turns.ts';
import { readStates } from '../read/read-states.ts';
import type { OutboxTicket } from './outbox.ts';
import { parseTickets } from './tickets.ts';

/** What goes into windows: `max` tickets of a queue and priority; `only`: of one queue. */
export interface DispatchLimit {
  max?: number;
  only?: TaskQueue;
}

/**
 * Fills the windows of a shard from what is ready: workers may have come while nothing was claimed. Their tickets go to `onTicket`.
 */
export async function dispatchReady(ledger: Ledger, shard: number, limit: DispatchLimit = {}): Promise<number> {
  const { outbox, ready, window, turns, weights } = ledger.keys.shard(shard);
  if ((await ledger.redis.zcard(ready)) === 0) return 0;
  const args = [JSON.stringify({ ...windowOptions(ledger), ...limit })];
  const tickets = parseTickets((await ledger.run('dispatch-ready', [outbox, ready, window, turns, weights], args)) as string[]);
  for (const ticket of tickets) ledger.onTicket(ticket);
  return tickets.length;
}

/** Tickets of a window that are checked together. */
const PAGE = 200;

/**
 * Drops what is in a shard's window and waits no more, so that no room is lost for good: an older release claims without emptying it.
 * Returns how many it dropped.
 */
export async function repairWindow(ledger: Ledger, shard: number): Promise<number> {
  const { window } = ledger.keys.shard(shard);
  let dropped = 0;
  for (let from = 0; ; from += PAGE) {
    const members = await ledger.redis.zrange(window, String(from), String(from + PAGE - 1));
    const stale = await staleOf(ledger, members);
    if (stale.length > 0) dropped += await ledger.redis.zrem(window, ...stale);
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

/** Makes a new ticket in place of a missing one. Returns the task's state with it; null when the task needs none. */
export async function reissueTicket(ledger: Ledger, tenant: string, { task, number }: OutboxTicket): Promise<TaskState | null> {
  const keys = ledger.keys.tenant(tenant);
  const { outbox, ready, window } = shardKeys(ledger, tenant);
  const [kind, state] = (await ledger.run('reissue-ticket', [keys.states, keys.bodies, outbox, ready, window], [task, number, tenant])) as [
    string,
    string?,
  ];
  return kind === 'reissued' ? parseFullState(`${state}`) : null;
}
