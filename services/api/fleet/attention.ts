import { z } from 'zod';
import { type BudgetDirectory, dollars, readSpending } from '#shared/budgets/index.ts';
import { listEndpoints, listDeliveries } from '#shared/deliveries/index.ts';
import { type Call, route, type Route } from '#shared/http/index.ts';
import { countHeldByGate, type Ledger, readAgentHolds } from '#shared/ledger/index.ts';
import { listWorkers, type Queues, readFleetPressure } from '#shared/queue/index.ts';
import { listSchedules, type ScheduleParts } from '#shared/schedules/index.ts';
import { toIso } from '#shared/time/index.ts';
import { isFleetOwner } from '../fleet/fleet-owner.ts';
import { answerList, onePageOf } from '../lists.ts';

interface AttentionPorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly budgets: BudgetDirectory;
}

const CODES = [
  'queue.unserved',
  'queue.paused',
  'worker.dead',
  'daemon.missing',
  'agent.held',
  'agent.paused',
  'input.held',
  'delivery.failed',
  'endpoint.disabled',
  'schedule.paused',
  'budget.soft',
  'budget.hard',
  'pressure.warning',
  'pressure.critical',
] as const;
const LEVELS = ['critical', 'warning'] as const;

const itemSchema = z
  .strictObject({
    code: z.enum(CODES).meta({ description: 'What it is.' }),
    level: z.enum(LEVELS).meta({ description: '`critical`: work stands still or is lost; `warning`: it soon may.' }),
    text: z.string().meta({ description: 'The same for people.' }),
    count: z.int().min(1).meta({ description: 'How many there are of it, at least.' }),
    since: z.iso.datetime().nullable().meta({ description: 'Since when, where that is known.' }),
    link: z.string().meta({ description: 'The page of the console about it.' }),
    subject: z.string().nullable().meta({ description: 'Its id or name, where it is one thing.' }),
  })
  .meta({
    id: 'Attention',
    examples: [
      {
        code: 'queue.unserved',
        level: 'critical',
        text: 'Tasks wait in the queue "chat", and no worker serves it.',
        count: 1,
        since: '2026-05-01T09:00:00.000Z',
        link: '/queues',
        subject: 'chat',
      },
    ],
  });
type Item = z.infer<typeof itemSchema>;

const MAX_ITEMS = 100;
/** Of each kind: deliveries, schedules. */
const MAX_READ = 20;
/** Schedules that are checked for paused ones: the newest, because people ask often. */
const MAX_CHECKED = 2000;

/** `GET /v1/attention`: what a person should look at now. */
export function getAttention(ports: AttentionPorts, scheduling: ScheduleParts): Route {
  return route({
    method: 'get',
    path: '/v1/attention',
    operationId: 'listAttention',
    summary: 'What needs attention now',
    description: `At most ${MAX_ITEMS}, the worst first. Workers, queues and the load of the fleet are there for keys of the tenant \`default\`.`,
    scope: 'read',
    responses: { 200: onePageOf(itemSchema, 'Critical ones first.').meta({ id: 'AttentionList' }) },
    handle: async (_input, call) => answerList(await findAttention(ports, scheduling, call)),
  });
}

async function findAttention(ports: AttentionPorts, scheduling: ScheduleParts, call: Call): Promise<Item[]> {
  const { tenant } = call;
  const found = await Promise.all([
    ...(isFleetOwner(call) ? [findUnserved(ports), findPaused(ports), findDead(ports), findPressure(ports)] : []),
    findWithoutDaemon(ports, tenant),
    findAgents(ports, tenant),
    findRepeated(ports, tenant),
    findDeliveries(ports, tenant),
    findEndpoints(ports, tenant),
    findSchedules(scheduling, tenant),
    findBudgets(ports, tenant),
  ]);
  return found
    .flat()
    .toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
    .slice(0, MAX_ITEMS);
}

async function findUnserved({ ledger: { redis, keys } }: AttentionPorts): Promise<Item[]> {
  const noted = await redis.hgetall(keys.fleet.unservedQueues);
  // A second field of a queue says when operators were notified.
  const queues = Object.entries(noted).filter(([field]) => !field.includes(' '));
  return queues.map(([queue, since]) => ({
    code: 'queue.unserved',
    level: 'critical',
    text: `Tasks wait in the queue "${queue}", and no worker serves it.`,
    count: 1,
    since: toIso(Number(since)),
    link: '/queues',
    subject: queue,
  }));
}

async function findPaused({ queues }: AttentionPorts): Promise<Item[]> {
  const first = queues.all().filter(({ shard }) => shard === 0);
  const paused = await Promise.all(first.map(async ({ name, queue }) => ((await queue.isPaused()) ? [name] : [])));
  return paused.flat().map((name) => ({
    code: 'queue.paused',
    level: 'warning',
    text: `The queue "${name}" is paused and starts nothing.`,
    count: 1,
    since: null,
    link: '/queues',
    subject: name,
  }));
}

async function findDead({ ledger }: AttentionPorts): Promise<Item[]> {
  const dead = (await listWorkers(ledger)).filter(({ status }) => status === 'dead');
  return dead.map(({ id, lastBeatAt }) => ({
    code: 'worker.dead',
    level: 'warning',
    text: `The worker ${id} stopped without saying so; its tasks went to others.`,
    count: 1,
    since: toIso(lastBeatAt),
    link: '/fleet',
    subject: id,
  }));
}

async function findPressure({ ledger }: AttentionPorts): Promise<Item[]> {
  const { level, depth } = await readFleetPressure(ledger);
  if (level === 'none') return [];
  const text = `The fleet has ${depth} open tasks, which is more than it should have.`;
  return [{ code: `pressure.${level}`, level, text, count: 1, since: null, link: '/', subject: null }];
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
