import { describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { Task } from '#shared/tasks/task.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { storedState } from '../../ledger/support/stored-states.ts';

const NONE = { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} };
const TENANTS = ['default', 'capped'];
/** How long attempts took so far, and how long the running one has. */
const MEAN_MS = 16;
const RAN_MS = 60_000;

const parts = await useEmptyParts({
  agents: {
    echo: { kind: 'echo' },
    single: { kind: 'echo', maxRunning: 1 },
    fresh: { kind: 'echo', maxRunning: 1 },
    long: { kind: 'echo' },
  },
  limits: { tenants: { capped: { ...NONE, running: 1 } } },
});

const submit = async (request: Partial<AcceptRequest>): Promise<string> => {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', ...request });
  await parts.relay.idle();
  return id;
};

async function startWorker(name: string, queues: readonly string[], slots: number): Promise<void> {
  const { redis, keys, config } = parts;
  const report = { host: 'h', pid: 1, skewMs: 0, queues, slots, running: 0 };
  await beat({ redis, keys, settings: config.settings }, name, workerReportSchema.parse(report));
}

/** A worker with so many slots, and the measured times of every agent. */
async function startFleet(slots: number): Promise<void> {
  await startWorker('w1', ['tasks', 'chat'], slots);
  for (const tenant of TENANTS)
    await parts.redis.hset(parts.keys.tenant(tenant).serviceTimes, {
      'echo/normal': MEAN_MS,
      'echo/high': MEAN_MS,
      'single/normal': MEAN_MS,
    });
}

/** Starts a task as if that were so long ago. */
async function start(tenant: string, id: string, ranMs: number, worker = 'w1'): Promise<void> {
  const lane = (await readTask(parts.ledger, tenant, id))?.state.lane ?? null;
  const claim = await claimTask(parts.ledger, { tenant, id, lane }, worker);
  if (claim.kind !== 'claimed') throw new Error(`The task was not claimed: ${claim.kind}`);
  const startedAt = (claim.state.startedAt ?? 0) - ranMs;
  await parts.redis.hset(parts.keys.tenant(tenant).states, id, storedState({ ...claim.state, startedAt }));
}

const estimate = async (tenant: string, id: string): Promise<number | null> =>
  (await explainWait(parts, (await readTask(parts.ledger, tenant, id)) as Task)).estimatedStartMs;

const BEHIND: [behind: string, request: Partial<AcceptRequest>, slots: number][] = [
  ['in its session', { session: 's' }, 4],
  ['in the lane of its agent', { agent: 'single' }, 4],
  ["at its tenant's cap", { tenant: 'capped' }, 4],
  ['in the only slot', {}, 1],
];

describe('the estimated start of a task that waits behind a running one', () => {
  it.each(BEHIND)('%s is soon while that runs no longer than usual', async (_behind, request, slots) => {
    await startFleet(slots);
    const tenant = request.tenant ?? 'default';
    await start(tenant, await submit(request), 0);
    expect(await estimate(tenant, await submit(request))).toBeLessThan(1000);
  });

  it.each(BEHIND)('%s is half of the time that it has run for, once that is much longer than usual', async (_behind, request, slots) => {
    await startFleet(slots);
    const tenant = request.tenant ?? 'default';
    await start(tenant, await submit(request), RAN_MS);
    const startMs = await estimate(tenant, await submit(request));
    expect(startMs).toBeGreaterThanOrEqual(RAN_MS / 2);
    expect(startMs).toBeLessThan(RAN_MS);
  });

  it("at its tenant's cap counts what the tasks before it take, of whichever agent they are", async () => {
    await startFleet(4);
    const { serviceTimes } = parts.keys.tenant('capped');
    await parts.redis.hset(serviceTimes, { 'long/normal': RAN_MS });
    const tenant = 'capped';
    await start(tenant, await submit({ tenant, agent: 'long' }), 0);
    const last = await submit({ tenant });
    // Before it for its sla.
    await submit({ tenant, agent: 'long', sla: new Date(Date.now() + 3_600_000).toISOString() });
    const { reasons, estimatedStartMs } = await explainWait(parts, (await readTask(parts.ledger, tenant, last)) as Task);
    expect(reasons).toMatchObject([{ gate: 'cap', detail: 'tenant cap 1/1, 1 before it' }]);
    expect(estimatedStartMs).toBeGreaterThan(RAN_MS);
    expect(estimatedStartMs).toBeLessThan(3 * RAN_MS);
  });

  it('is soon while what runs for long has the slots of workers that do not serve its queue', async () => {
    await startFleet(1);
    await startWorker('w2', ['webhooks', 'schedules'], 2);
    await start('default', await submit({ source: 'webhook' }), RAN_MS, 'w2');
    await start('default', await submit({ source: 'webhook' }), RAN_MS, 'w2');
    expect(await estimate('default', await submit({}))).toBe(0);
  });

  it('is soon while another slot has tasks of the usual length', async () => {
    await startFleet(2);
    await start('default', await submit({}), RAN_MS);
    await start('default', await submit({}), 0);
    expect(await estimate('default', await submit({}))).toBeLessThan(1000);
  });
});
