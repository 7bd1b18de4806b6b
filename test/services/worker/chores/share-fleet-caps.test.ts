import pMap from 'p-map';
import { describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readState } from '#shared/ledger/read/read-states.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { readDemand } from '#shared/ledger/tenants/depth.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { shareFleetCaps } from '../../../../services/worker/chores/share-fleet-caps.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const CAP = 4;
const { url } = await useRedis();
/** Two processes of a fleet whose shares hold for 150 ms. */
const open = (): Promise<Parts> =>
  openTestParts({
    redisUrl: url,
    env: { SHARDS: '3' },
    settings: {
      agents: { echo: { kind: 'echo' } },
      fleet: { shareMs: 50 },
      limits: { fleet: { runningByClass: { user: CAP }, runningLow: 1 }, tenant: { waiting: null, rates: {} } },
    },
  });
const processes = [closeAfterTests(await open()), closeAfterTests(await open())] as const;
const [one, two] = processes;
const DONE = { kind: 'completed', output: 'done', result: null, usage: null } as const;
const TENANTS = ['default', 'acme', 'globex'];

const submit = async (parts: Parts, tenant: string, priority = 5): Promise<{ tenant: string; id: string; parts: Parts }> => {
  const { id } = await acceptTask(parts, { tenant, agent: 'echo', input: 'x', priority });
  return { tenant, id, parts };
};
const share = async (): Promise<void> => {
  await Promise.all(processes.map((parts) => shareFleetCaps(parts)));
  await Promise.all(processes.map((parts) => parts.fleetLimits.refresh()));
};
/** How many tasks of the fleet have a grant. */
const granted = async (name: 'user' | 'low' = 'user'): Promise<number> => {
  const demands = await Promise.all(TENANTS.map((tenant) => readDemand(one.ledger, tenant)));
  return demands.reduce((sum, demand) => sum + (demand.granted[name] ?? 0), 0);
};

/** Runs all tasks that are granted, until none is left. Returns the greatest number that had a grant at once, and the order of the ends. */
async function runAll(tasks: readonly { tenant: string; id: string; parts: Parts }[]): Promise<{ atOnce: number; ended: string[] }> {
  const left = new Set(tasks);
  const ended: string[] = [];
  let atOnce = 0;
  const run = async (): Promise<boolean> => {
    await share();
    atOnce = Math.max(atOnce, await granted());
    await pMap(left, async (task) => {
      const { tenant, id, parts } = task;
      if (!(await readState(parts.ledger, tenant, id))?.granted) return;
      const claim = await claimTask(parts.ledger, { tenant, id, lane: null }, 'w1');
      if (claim.kind !== 'claimed') return;
      await settleAttempt(parts.ledger, { tenant, id, lane: null, token: claim.state.token }, DONE);
      left.delete(task);
      ended.push(tenant);
    });
    return left.size === 0;
  };
  await waitFor(run, { deadlineMs: 20_000, what: 'all tasks to end' });
  return { atOnce, ended };
}

describe('a cap of the fleet on a class, over several tenants, shards and processes', () => {
  it('is never exceeded, and no tenant is left out', async () => {
    for (const tenant of ['acme', 'globex'])
      await one.tenants.create(tenant, { name: tenant, disabled: false, limits: null, createdAt: 1 });
    await two.tenants.refresh();
    await share();
    const tasks = await pMap(
      TENANTS.flatMap((tenant) => Array.from({ length: 8 }, (_, n) => ({ tenant, parts: n % 2 ? one : two }))),
      ({ tenant, parts }) => submit(parts, tenant),
    );
    const { atOnce, ended } = await runAll(tasks);
    expect(atOnce).toBeGreaterThan(0);
    expect(atOnce).toBeLessThanOrEqual(CAP);
    expect(new Set(ended.slice(0, 12)).size).toBe(TENANTS.length);
  });

  it('grants nothing by a share that holds no more', async () => {
    await share();
    const { ends } = one.fleetLimits.shares.record ?? { ends: 0 };
    await waitFor(async () => Number((await one.redis.time())[0]) * 1000 > ends + 1000, { deadlineMs: 5000, what: 'the share to end' });
    const task = await submit(one, 'default');
    expect(await readState(one.ledger, 'default', task.id)).toMatchObject({ status: 'pending', gate: 'cap' });
    await runAll([task]);
  });

  it('bounds tasks of low priority besides', async () => {
    const tasks = await Promise.all(['default', 'acme', 'globex'].map((tenant) => submit(one, tenant, 1)));
    await share();
    const waiting = await Promise.all(
      tasks.map(async ({ tenant, id }) => await explainWait(one, (await readTask(one.ledger, tenant, id)) ?? never())),
    );
    expect(waiting.flatMap(({ reasons }) => reasons.map(({ detail }) => detail))).toContain(
      "tenant's share of the fleet's low priority cap 0/0",
    );
    expect(await granted('low')).toBeLessThanOrEqual(1);
    await runAll(tasks);
  });

  it('ends when it is taken away, and what waits for it is granted', async () => {
    const tasks = await Promise.all(Array.from({ length: CAP + 3 }, () => submit(one, 'acme')));
    await one.fleetLimits.change({ runningByClass: { user: null }, runningLow: null }, null);
    expect(one.fleetLimits.shareOf('acme')).toBeNull();
    await runAll(tasks.slice(0, 1));
    expect(await granted()).toBe(CAP + 2);
  });
});

function never(): never {
  throw new Error('There is no such task');
}
