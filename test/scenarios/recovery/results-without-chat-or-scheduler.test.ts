import { afterEach, beforeEach, expect, it } from 'vitest';
import { startFakeHttpEndpoint, type FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

const SOON = { deadlineMs: 20_000, everyMs: 50 };
const TASKS = 50;

let fleet: Fleet;
let endpoint: FakeHttpEndpoint;

beforeEach(async () => {
  endpoint = await startFakeHttpEndpoint((response) => response.writeHead(204).end());
  fleet = await openFleet({
    settings: { outbound: { allowNetworks: ['127.0.0.0/8'] }, scheduler: { followEndedAfterMs: 500 } },
  });
});
afterEach(async () => {
  await fleet.stop();
  await endpoint.close();
});

async function metric(name: string): Promise<number> {
  const { body } = await fleet.client.call('GET', '/metrics');
  return Number(new RegExp(`^${name.replaceAll(/[{}"]/g, String.raw`\$&`)} (.*)$`, 'm').exec(body)?.[1] ?? Number.NaN);
}

it('an API and a worker are enough for callbacks to be sent and for schedules to learn of their runs', async () => {
  await fleet.start('api');
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const once = await fleet.client.make('/v1/schedules', { at, agent: 'echo', message: 'once', callbackUrl: `${endpoint.url}/run` });
  const ids = await Promise.all(
    Array.from({ length: TASKS }, () => fleet.client.submit({ agent: 'echo', callbackUrl: `${endpoint.url}/task` })),
  );
  await Promise.all(ids.slice(0, 10).map((id) => fleet.client.call('POST', `/v1/tasks/${id}/cancel`)));
  // Without a worker the ends wait, and that is to be seen.
  await waitFor(async () => (await metric('muster_ends_unfollowed{kind="callback"}')) === 10, { ...SOON, what: 'the ends to be counted' });
  expect(await metric('muster_deliveries_takers{queue="deliveries"}')).toBe(0);

  await fleet.start('worker', { MUSTER_QUEUES: 'tasks=4,critical=1,schedules=2' });
  await fleet.client.ended(ids, 20_000);
  const run = await fleet.client.call('POST', `/v1/schedules/${once.id}/run`);
  expect(run.status).toBe(202);
  await fleet.client.ended([run.body.id], 20_000);
  const paths = (): string[] => endpoint.requests.map(({ path }) => path);
  await waitFor(() => endpoint.requests.length === TASKS + 1, { ...SOON, what: 'every callback' });
  expect(paths().filter((path) => path === '/run')).toHaveLength(1);
  const unfollowed = async (): Promise<number[]> =>
    await Promise.all(['callback', 'run'].map((kind) => metric(`muster_ends_unfollowed{kind="${kind}"}`)));
  await waitFor(async () => (await unfollowed()).every((count) => count === 0), { ...SOON, what: 'every end to be followed' });
  expect(await metric('muster_deliveries_takers{queue="deliveries"}')).toBe(1);
  reportFigure('An API and a worker alone', `${endpoint.requests.length} callbacks of ${TASKS + 1} sent`);
});
