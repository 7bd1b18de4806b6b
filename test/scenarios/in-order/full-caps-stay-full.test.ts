import { afterEach, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import { type MixedTask, NO_LIMITS, openTenant, readUses, submitMixed, WAITING_AGENT } from '../../support/fleet/mixed-work.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { grantedBefore, idleTime, maxAtOnce, type SlotUse, withLanes } from '../../support/fleet/slot-times.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Load {
  /** With caps of 1, 2, 3, 1 ... tasks at once. */
  tenants: number;
  /** Of a tenant, for each task that it may run at once. */
  tasksPerCap: number;
  workMs: (n: number) => number;
  apis: number;
  workers: number;
  /** Between two kills of a worker, whose place another one takes. */
  killEveryMs: number;
}

const SMALL: Load = { tenants: 3, tasksPerCap: 20, workMs: (n) => 30 + (n % 5) * 10, apis: 2, workers: 2, killEveryMs: 1500 };
/** 5,000 tasks of 0.5 to 8 s, 2.5 on average, as agents have them: most are short and some are long. */
const FULL: Load = {
  tenants: 30,
  tasksPerCap: 84,
  workMs: (n) => 500 + 7500 * (((n * 7) % 31) / 30) ** 2.75,
  apis: 3,
  workers: 4,
  killEveryMs: 10_000,
};
const load = testEnvironment.isChaos ? FULL : SMALL;

/** Slots of one worker, cut up in different parts; any three have more than all caps together. */
const SPLITS = [
  'critical=2,chat=12,tasks=20,background=4,maintenance=1',
  'critical=1,chat=1,tasks=35,background=1,maintenance=1',
  'critical=1,chat=32,tasks=1,background=4,maintenance=1',
];
/** Ids of two APIs may be made in another order than their tasks are accepted. */
const TRAVEL_MS = 1000;
const ENDED_MS = 900_000;

const capOf = (tenant: number): number => (tenant % 3) + 1;
const nameOf = (tenant: number): string => `tenant-${tenant}`;
const NO_WAITS = { warningWaitMs: null, criticalWaitMs: null };

const ofTenant = (uses: readonly SlotUse[], tenant: number): SlotUse[] => uses.filter((use) => use.tenant === nameOf(tenant));

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

it('caps of 1 to 3 stay full while workers are killed, and what waits starts in its order', async () => {
  const all = Array.from({ length: load.tenants }, (_, tenant) => tenant);
  const uses = withLanes(await runAll(all));
  const idle = all.map((tenant) => idleTime(ofTenant(uses, tenant), { total: capOf(tenant), ordinary: capOf(tenant) }));
  const [idleMs, slotMs, starts] = [sum(idle, 'idleMs'), sum(idle, 'slotMs'), sum(idle, 'starts')];
  const over = all.flatMap((tenant) => grantedBefore(ofTenant(uses, tenant), TRAVEL_MS));
  const count = new Set(uses.map(({ task }) => task)).size;
  reportFigure(
    `${load.tenants} tenants with caps of 1 to 3`,
    `${count} tasks, ${uses.length - count} attempts lost with their workers, idle ${(idleMs / 1000).toFixed(1)} of ` +
      `${(slotMs / 1000).toFixed(1)} slot-seconds (${((100 * idleMs) / slotMs).toFixed(2)} %, ${(idleMs / starts).toFixed(1)} ms for each start), ` +
      `${over.length} passed over`,
  );
  expect(all.filter((tenant) => maxAtOnce(ofTenant(uses, tenant)).total > capOf(tenant))).toEqual([]);
  const lanes = Map.groupBy(uses, ({ lane }) => lane);
  lanes.delete(undefined);
  expect([...lanes].filter(([, own]) => maxAtOnce(own).total > 1).map(([lane]) => lane)).toEqual([]);
  expect(over).toEqual([]);
});

function sum<Name extends string>(values: readonly Record<Name, number>[], name: Name): number {
  return values.reduce((total, value) => total + value[name], 0);
}

/** All is accepted before the first worker starts, so that the order is known. */
async function runAll(all: readonly number[]): Promise<SlotUse[]> {
  fleet = await openFleet({
    settings: {
      agents: WAITING_AGENT,
      limits: {
        tenants: Object.fromEntries(all.map((tenant) => [nameOf(tenant), { ...NO_LIMITS, running: capOf(tenant) }])),
        backpressure: { warningDepth: 50_000, ...NO_WAITS, fleet: NO_WAITS },
      },
    },
  });
  const urls = (await Promise.all(Array.from({ length: load.apis }, () => fleet.start('api')))).map(({ url }) => url);
  const submitted: MixedTask[] = [];
  for (const tenant of all) {
    const tenants = [await openTenant(fleet, nameOf(tenant))];
    submitted.push(
      ...(await submitMixed(fleet, { count: load.tasksPerCap * capOf(tenant), workMs: load.workMs, tenants, urls, lanes: 4 })),
    );
  }
  let next = 0;
  const startWorker = async (): Promise<ServiceProcess> =>
    await fleet.start('worker', { MUSTER_QUEUES: SPLITS[next++ % SPLITS.length] ?? '' });
  const started = await Promise.all(Array.from({ length: load.workers }, startWorker));
  const kills = repeatUntilStopped(async () => {
    await started.shift()?.kill();
    started.push(await startWorker());
  }, load.killEveryMs);
  // One tenant after the other: reading all that still wait, again and again, would take the processor from what is measured.
  for (const { call } of new Map(submitted.map((task) => [task.tenant, task])).values()) {
    const isOver = async (): Promise<boolean> =>
      (await fleet.client.call('GET', '/v1/tasks?status=pending,queued,scheduled,running&limit=1', call)).body.items.length === 0;
    await waitFor(isOver, { deadlineMs: ENDED_MS, everyMs: 1000, what: 'all tasks of a tenant to end' });
  }
  await kills.stop();
  for (const { id, call } of submitted) {
    const [ended] = await fleet.client.ended([id], ENDED_MS, call);
    expect(ended?.status).toBe('completed');
  }
  return await readUses(fleet, submitted, new Map());
}
