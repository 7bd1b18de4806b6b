import { dollars, readSpent } from '#shared/budgets/index.ts';
import { listEndpoints, listDeliveries } from '#shared/deliveries/index.ts';
import { countHeldByGate, readAgentHolds } from '#shared/ledger/index.ts';
import { type AgentEnds, readFailingAgents } from '#shared/metrics/index.ts';
import { listSchedules, type ScheduleParts } from '#shared/schedules/index.ts';
import { toIso } from '#shared/time/index.ts';
import type { AttentionPorts, Item } from './attention-item.ts';

/** Of each kind: deliveries, schedules. */
const MAX_READ = 20;
const MINUTE_MS = 60_000;
/** Schedules that are checked for paused ones: the newest, because people ask often. */
const MAX_CHECKED = 2000;

/** What the people of a tenant should look at: what is held, failed or paused, and budgets over a line. */
export function attentionOfTenant(ports: AttentionPorts, scheduling: ScheduleParts, tenant: string): Promise<Item[]>[] {
  return [
    findWithoutDaemon(ports, tenant),
    findAgents(ports, tenant),
    findFailing(ports, tenant),
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

/** Agents whose attempts fail now, long before failures in a row hold them. */
async function findFailing({ ledger }: AttentionPorts, tenant: string): Promise<Item[]> {
  const minutes = Math.round(ledger.settings.metrics.failingMs / MINUTE_MS);
  return (await readFailingAgents(ledger, tenant)).map((ends) => viewFailing(ends, minutes));
}

function viewFailing({ agent, completed, failed, retried }: AgentEnds, minutes: number): Item {
  const count = failed + retried;
  const end = failed === 0 ? 'all are tried again' : `${failed} of them for good`;
  const filter = `agent=${encodeURIComponent(agent)}`;
  return {
    code: 'agent.failing',
    level: completed === 0 ? 'critical' : 'warning',
    text: `${count} of ${count + completed} attempts of ${agent} failed in the last ${minutes} minutes, ${end}.`,
    count,
    since: null,
    link: failed === 0 ? `/tasks?${filter}&status=failed,timeout` : `/failures?${filter}`,
    subject: agent,
  };
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
  const what = items.length === 1 ? 'reply or callback' : 'replies or callbacks';
  const text = `${items.length === MAX_READ ? 'At least ' : ''}${items.length} ${what} could not be delivered.`;
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
  return items.map(({ id, number, name, pausedReason }) => ({
    code: 'schedule.paused',
    level: 'warning',
    text: `The schedule ${name === null ? `#${number}` : `"${name}"`} is paused${pausedReason ? `: ${pausedReason}` : ''}.`,
    count: 1,
    since: null,
    link: '/schedules?status=paused',
    subject: id,
  }));
}

async function findBudgets({ ledger, budgets }: AttentionPorts, tenant: string): Promise<Item[]> {
  const all = (await budgets.list(tenant)).filter(({ scope, of }) => scope === 'tenant' || of !== null);
  const found = await Promise.all(all.map(async (budget) => ({ budget, spending: await readSpent(ledger, tenant, budget) })));
  return found.flatMap(({ budget: { id, softMicroUsd, hardMicroUsd }, spending: { spentMicroUsd } }): Item[] => {
    const isHard = hardMicroUsd !== null && spentMicroUsd >= hardMicroUsd;
    if (!isHard && (softMicroUsd === null || spentMicroUsd < softMicroUsd)) return [];
    const line = isHard ? 'hard' : 'soft';
    const text = `The budget "${id}" is over its ${line} line: ${dollars(spentMicroUsd)} are spent.`;
    const level = isHard ? 'critical' : 'warning';
    return [{ code: `budget.${line}`, level, text, count: 1, since: null, link: '/usage', subject: id }];
  });
}
