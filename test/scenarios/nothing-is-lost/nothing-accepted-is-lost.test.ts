import { afterEach, describe, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import { wait } from '#shared/time/wait.ts';

let fleet: Fleet;

afterEach(async () => {
  await fleet.stop();
});

const reissued = (processes: readonly ServiceProcess[]): number =>
  processes.flatMap(({ lines }) => lines).filter(({ event }) => event === 'ticket.reissued').length;

/** Posts tasks from several sides until it is stopped, and keeps the ids that were answered 202; what got no answer is nobody's. */
function load(): { accepted: string[]; stop: () => Promise<void> } {
  const accepted: string[] = [];
  const sides = Array.from({ length: 8 }, () =>
    repeatUntilStopped(async () => {
      const body = { agent: 'echo', input: 'one two three', context: { paceMs: 20 } };
      const answer = await fleet.client.call('POST', '/v1/tasks', { body }).catch(() => null);
      if (answer?.status === 202) accepted.push(answer.body.id);
    }, 1),
  );
  return {
    accepted,
    stop: async () => {
      await Promise.all(sides.map((side) => side.stop()));
    },
  };
}

/** How often the API and Redis are killed. */
const ROUNDS = testEnvironment.isChaos ? { api: 5, redis: 3 } : { api: 2, redis: 1 };

/** When a process is killed must not depend on what it does. */
const someMoment = async (): Promise<void> => {
  await wait(100 + Math.random() * 300);
};

describe('accepted tasks', () => {
  it('reach their end when the API is killed at any moment between accepting and adding the ticket', async () => {
    // Without the audit, which would find these tasks too, only later.
    fleet = await openFleet({ settings: { worker: { outboxSweepMs: 500, ticketAuditMs: 3_600_000 } } });
    let api = await fleet.start('api');
    const worker = await fleet.start('worker');
    const { accepted, stop } = load();
    for (let round = 0; round < ROUNDS.api; round += 1) {
      await someMoment();
      await api.kill();
      api = await fleet.start('api');
    }
    await stop();
    const tasks = await fleet.client.ended(accepted, 30_000);
    reportFigure(
      `API killed ${ROUNDS.api} times`,
      `${accepted.length} tasks answered 202, ${reissued([worker])} tickets added by the sweep`,
    );
    expect(accepted.length).toBeGreaterThan(10 * ROUNDS.api);
    expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
  });

  it.each(firstOf(['everysec', 'always']))(
    'reach their end when Redis is killed under load and persists with appendfsync %s',
    async (fsync) => {
      fleet = await openFleet({ redisArgs: ['--appendonly', 'yes', '--appendfsync', fsync] });
      await Promise.all([fleet.start('api'), fleet.start('worker')]);
      const { accepted, stop } = load();
      for (let round = 0; round < ROUNDS.redis; round += 1) {
        const before = accepted.length;
        await someMoment();
        await fleet.redis.kill();
        await fleet.redis.restart();
        await waitFor(() => accepted.length > before + 20, { deadlineMs: 20_000, what: 'tasks to be accepted again' });
      }
      await stop();
      const tasks = await fleet.client.ended(accepted, 30_000);
      reportFigure(`Redis killed ${ROUNDS.redis} times with appendfsync ${fsync}`, `${accepted.length} tasks answered 202, none lost`);
      expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
    },
  );

  it('reach their end when somebody empties the queues behind our back', async () => {
    fleet = await openFleet();
    await fleet.start('api');
    await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2,background=1,maintenance=1' });
    const parts = await openTestParts({ redisUrl: fleet.redis.url });
    try {
      const submit = (priority: number): Promise<string> => fleet.client.submit({ agent: 'work-150', priority });
      const later = fleet.client.submit({ scheduledFor: new Date(Date.now() + 2000).toISOString() });
      const retried = fleet.client.submit({ context: { failRuns: 1 }, execution: { retryDelayMs: 2000 } });
      const ids = [await later, await retried, ...(await Promise.all(Array.from({ length: 20 }, () => submit(1))))];
      ids.push(...(await Promise.all(Array.from({ length: 20 }, () => submit(5)))));
      await fleet.client.reaches(ids[1] ?? '', ['failed']);
      for (const name of ['tasks', 'background'] as const) await parts.queues.get(0, name).obliterate({ force: true });
      const tasks = await fleet.client.ended(ids, 40_000);
      expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    } finally {
      await parts.close();
    }
  });
});
