import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

const CODES = ['NETWORK_ERROR', 'PROVIDER_ERROR', 'INVALID_INPUT'];
const TASKS = 300;
const RETRIED = CODES[0];

beforeEach(async () => {
  fleet = await openFleet({
    isPacked: true,
    settings: { actions: { stepTasks: 2, pollMs: 100, leaseMs: 1000 }, runaways: { maxFailures: 0 } },
  });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

interface Progress {
  status: string;
  matched: number;
  done: number;
  skipped: number;
  failed: number;
}

it('an action goes on where a killed worker left it, and retries each task exactly once', async () => {
  const worker = await fleet.start('worker');
  const ids = await Promise.all(
    Array.from({ length: TASKS }, (_, number) =>
      fleet.client.submit({
        agent: 'echo',
        context: { failAttempts: 1, failCode: CODES[number % CODES.length] },
        execution: { maxAttempts: 1 },
      }),
    ),
  );
  await fleet.client.ended(ids, 60_000);
  const groups = (await fleet.client.call('GET', '/v1/failures')).body.items as { code: string; count: number }[];
  expect(new Map(groups.map(({ code, count }) => [code, count]))).toEqual(new Map(CODES.map((code) => [code, TASKS / CODES.length])));

  const { body: made } = await fleet.client.call('POST', '/v1/tasks/actions', { body: { action: 'retry', filter: { code: RETRIED } } });
  expect(made).toMatchObject({ status: 'pending', matched: TASKS / CODES.length, done: 0 });
  const progress = async (): Promise<Progress> => (await fleet.client.call('GET', `/v1/tasks/actions/${made.id}`)).body as Progress;
  await waitFor(async () => (await progress()).done > 0, { deadlineMs: 20_000, everyMs: 5, what: 'the first steps of the action' });
  await worker.kill();
  const left = await progress();
  expect(left.status).toBe('running');
  expect(left.done).toBeLessThan(left.matched);

  await fleet.start('worker');
  const end = await waitFor(async () => [await progress()].find(({ status }) => status === 'completed'), {
    deadlineMs: 30_000,
    what: 'the end of the action on another worker',
  });
  expect(end).toMatchObject({ matched: TASKS / CODES.length, done: TASKS / CODES.length, skipped: 0, failed: 0 });

  const retried = ids.filter((_, number) => CODES[number % CODES.length] === RETRIED);
  const tasks = await fleet.client.ended(ids, 60_000);
  const expected = ids.map((id) => (retried.includes(id) ? 'completed' : 'permanently_failed'));
  expect(tasks.map(({ status }) => status)).toEqual(expected);
  const timelines = await Promise.all(retried.map((id) => fleet.client.call('GET', `/v1/tasks/${id}/timeline`)));
  const beginnings = timelines.map(({ body }) => (body.items as { status: string }[]).filter(({ status }) => status === 'pending').length);
  expect(beginnings).toEqual(retried.map(() => 2));
});
