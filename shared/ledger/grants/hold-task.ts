import type { TaskHold } from '../../errors/index.ts';
import { contextKeys, runInContext, shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { promoteHeld, idInMember } from './promote-tasks.ts';
import { prefixOf } from './release-held.ts';

/** Published in the tenant's events when a task begins to wait for something that its people should know. */
export interface HoldNotice {
  event: 'task.waiting-for-daemon' | 'task.blocked';
  /** `detail` is for people. */
  facts: Readonly<Record<string, string | number | null>> & { detail: string };
}

/** A notice as a task's state keeps it. */
export function parseNotice(text: string): HoldNotice {
  return JSON.parse(text) as HoldNotice;
}

interface HoldRequest {
  tenant: string;
  id: string;
  hold: TaskHold;
  /** When it ends in any case, ms since the epoch; null for no end. */
  until: number | null;
  /** Of a ticket that a slot took: its entry in the outbox. */
  entry?: string | undefined;
  /** Published once, while it stays the same. */
  notice?: HoldNotice | undefined;
}

/** `notified`: held, and its notice was published; `gone`: it runs, has ended or waits already. */
export type HoldAnswer = 'held' | 'notified' | 'gone';

/** Holds a granted task without a claim, so that no attempt is spent; `releaseHeld` lets it go on. It keeps its own lane only. */
export async function holdTask(ledger: Ledger, { tenant, id, hold, until, entry, notice }: HoldRequest): Promise<HoldAnswer> {
  const [answer] = (await runInContext(ledger, {
    script: 'hold-task',
    tenant,
    keys: [...contextKeys(ledger, tenant), shardKeys(ledger, tenant).due],
    args: [id, JSON.stringify(hold), until ?? 0, entry ?? '', notice ? JSON.stringify(notice) : ''],
  })) as [HoldAnswer];
  return answer;
}

/** What a gate holds tasks of a tenant for, and where the first of them stands: a lower place goes first. */
interface HoldHead {
  what: string;
  place: string;
}

/** What one gate holds tasks of a tenant for, each once, at most `max`. One call, however many tasks are held. */
export async function listHoldHeads(ledger: Ledger, tenant: string, gate: TaskHold['gate'], max: number): Promise<HoldHead[]> {
  const found = (await ledger.run('list-holds', [ledger.keys.tenant(tenant).live], [gate, max])) as string[];
  return Array.from({ length: found.length / 2 }, (_, at) => ({
    what: (found[at * 2] ?? '').replaceAll('%2F', '/').replaceAll('%25', '%'),
    place: found[at * 2 + 1] ?? '',
  }));
}

/** How many tasks of a tenant a gate holds. One call. */
export async function countHeldByGate(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  tenant: string,
  gate: TaskHold['gate'],
): Promise<number> {
  const { live } = keys.tenant(tenant);
  return await redis.zlexcount(live, `[hold=${gate}:`, `(hold=${gate}:\u00ff`);
}

/** Tenants that are counted together. */
const TENANTS_TOGETHER = 100;

/** How many tasks of these tenants a gate holds. */
export async function countAllHeldByGate(
  ports: Pick<Ledger, 'redis' | 'keys'>,
  tenants: readonly string[],
  gate: TaskHold['gate'],
): Promise<number> {
  let total = 0;
  for (let from = 0; from < tenants.length; from += TENANTS_TOGETHER) {
    const page = tenants.slice(from, from + TENANTS_TOGETHER);
    const counts = await Promise.all(page.map(async (tenant) => await countHeldByGate(ports, tenant, gate)));
    total += counts.reduce((sum, count) => sum + count, 0);
  }
  return total;
}

/** What a release of several holds did. */
interface FirstReleased {
  /** In the order of their release. */
  ids: string[];
  /** Holds that hold nothing now. */
  empty: TaskHold[];
}

/** Releases the first `max` tasks of all that these hold together, by priority and age. */
export async function releaseFirstHeld(ledger: Ledger, tenant: string, holds: readonly TaskHold[], max: number): Promise<FirstReleased> {
  const lines = await readLines(ledger, tenant, { holds, max });
  const first = lines.flatMap(({ members }) => members).toSorted((a, b) => (a.place < b.place ? -1 : 1));
  const members = first.slice(0, max).map(({ member }) => member);
  const answers = await promoteHeld(ledger, tenant, members);
  return {
    ids: members.filter((_, at) => answers[at]?.kind === 'promoted').map((member) => idInMember(member)),
    empty: lines.flatMap(({ hold, members: { length } }) => (length === 0 ? [hold] : [])),
  };
}

/** The place of the first task of each of these; null for one that holds nothing now. */
export async function readFirstPlaces(
  ledger: Ledger,
  tenant: string,
  holds: readonly TaskHold[],
): Promise<{ hold: TaskHold; place: string | null }[]> {
  const lines = await readLines(ledger, tenant, { holds, max: 1 });
  return lines.map(({ hold, members: [first] }) => ({ hold, place: first?.place ?? null }));
}

interface HoldLine {
  hold: TaskHold;
  members: { member: string; place: string }[];
}

/** The first tasks of each hold. */
async function readLines(
  { redis, keys }: Ledger,
  tenant: string,
  { holds, max }: { holds: readonly TaskHold[]; max: number },
): Promise<HoldLine[]> {
  const { live } = keys.tenant(tenant);
  return await Promise.all(
    holds.map(async (hold): Promise<HoldLine> => {
      const prefix = prefixOf(hold);
      const members = await redis.zrangebylex(live, `[${prefix}`, `(${prefix}\u00ff`, 'LIMIT', 0, max);
      return { hold, members: members.map((member) => ({ member, place: member.slice(prefix.length) })) };
    }),
  );
}
