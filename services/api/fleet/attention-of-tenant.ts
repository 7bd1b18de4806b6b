import { dollars, readSpending } from '#shared/budgets/index.ts';
import { listEndpoints, listDeliveries } from '#shared/deliveries/index.ts';
import { countHeldByGate, readAgentHolds } from '#shared/ledger/index.ts';
import { listSchedules, type ScheduleParts } from '#shared/schedules/index.ts';
import { toIso } from '#shared/time/index.ts';
import type { AttentionPorts, Item } from './attention-item.ts';

/** Of each kind: deliveries, schedules. */
const MAX_READ = 20;
/** Schedules that are checked for paused ones: the newest, because people ask often. */
const MAX_CHECKED = 2000;

/** What the people of a tenant should look at: what is held, failed or paused, and budgets over a line. */
export function attentionOfTenant(ports: AttentionPorts, scheduling: ScheduleParts, tenant: string): Promise<Item[]>[] {
  return [
    findWithoutDaemon(ports, tenant),
    findAgents(ports, tenant),
    findRepeated(ports, tenant),
    findDeliveries(ports, tenant),
    findEndpoints(ports, tenant),
    findSchedules(scheduling, tenant),
    findBudgets(ports, tenant),
  ];
}

async function findWithoutDaemon({ ledger }: AttentionPorts, tenant: string): Promise<Item[]> {
  const count = await countHeldByGate(ledger, tenant, 'daemon');
  if (count === 0) return [];
  const text = `${count === 1 ? '1 task waits' : `${count} tasks wait`} for a daemon that is offline, full or missing.`;
  return [{ code: 'daemon.missing', level: 'warning', text, count, since: null, link: '/fleet', subject: null }];
}

/** Agents that start nothing until a person resumes them. */
async function findAgents({ ledger }: AttentionPorts, tenant: string): Promise<Item[]> {
  const holds = await readAgentHolds(ledger, tenant);
  return [...holds].map(([agent, { gate, since, reason }]) => ({
    code: gate === 'agent' ? 'agent.paused' : 'agent.held',
    level: gate === 'agent' ? 'warning' : 'critical',
    text: `Tasks of ${agent} wait until somebody resumes it: ${reason}.`,
    count: 1,
    since: toIso(since),
    link: `/agents/${encodeURIComponent(agent)}`,
    subject: agent,
  }));
}

/** What a person has to release. */
async function findRepeated({ ledger }: AttentionPorts, tenant: string): Promise<Item[]> {
  const count = await countHeldByGate(ledger, tenant, 'repeats');
  if (count === 0) return [];
  const text = `${count} tasks are held because the same input came too often in a row; retry one of them when its cause is gone.`;
  return [{ code: 'input.held', level: 'critical', text, count, since: null, link: '/tasks?status=pending,queued', subject: null }];
}

async function findDeliveries({ ledger }: AttentionPorts, tenant: string): Promise<Item[]> {
  const { items } = await listDeliveries(ledger, tenant, { status: 'failed' }, { limit: MAX_READ });
  if (items.length === 0) return [];
  const text = `${items.length === MAX_READ ? 'At least ' : ''}${items.length} replies or callbacks could not be delivered.`;
  const link = '/deliveries?status=failed';
  return [{ code: 'delivery.failed', level: 'warning', text, count: items.length, since: null, link, subject: null }];
}

async function findEndpoints({ ledger }: AttentionPorts, tenant: string): Promise<Item[]> {
  const disabled = (await listEndpoints(ledger, tenant)).filter(({ disabledAt }) => disabledAt !== null);
  return disabled.map(({ url, disabledAt }) => ({
    code: 'endpoint.disabled',
    level: 'critical',
    text: `The endpoint ${url} failed for too long; callbacks to it fail at once.`,
    count: 1,
    since: toIso(disabledAt),
    link: '/deliveries',
    subject: url,
  }));
}

async function findSchedules(scheduling: ScheduleParts, tenant: string): Promise<Item[]> {
  const { items } = await listSchedules(
    scheduling,
    tenant,
    { status: 'paused' },
    { limit: MAX_READ, before: null, maxChecked: MAX_CHECKED },
  );
  return items.map(({ id, name, pausedReason }) => ({
    code: 'schedule.paused',
    level: 'warning',
    text: `The schedule "${name}" is paused${pausedReason ? `: ${pausedReason}` : ''}.`,
    count: 1,
    since: null,
    link: '/schedules?status=paused',
    subject: id,
  }));
}

async function findBudgets({ ledger, budgets }: AttentionPorts, tenant: string): Promise<Item[]> {
  const all = (await budgets.list(tenant)).filter(({ scope, of }) => scope === 'tenant' || of !== null);
  const found = await Promise.all(all.map(async (budget) => ({ budget, spending: await readSpending(ledger, tenant, budget) })));
  return found.flatMap(({ budget: { id, softMicroUsd, hardMicroUsd }, spending: { spentMicroUsd } }): Item[] => {
    const isHard = hardMicroUsd !== null && spentMicroUsd >= hardMicroUsd;
    if (!isHard && (softMicroUsd === null || spentMicroUsd < softMicroUsd)) return [];
    const line = isHard ? 'hard' : 'soft';
    const text = `The budget "${id}" is over its ${line} line: ${dollars(spentMicroUsd)} are spent.`;
    const level = isHard ? 'critical' : 'warning';
    return [{ code: `budget.${line}`, level, text, count: 1, since: null, link: '/usage', subject: id }];
  });
}
