import { expect, it } from 'vitest';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ agents: { echo: { kind: 'echo' } }, limits: { maxPreviewed: 500 } });

const preview = (tenant: string, limits: object, key = api.key): ReturnType<typeof api.call> =>
  api.call('POST', `/v1/tenants/${tenant}/limits/preview`, { body: { limits }, key });

it('answers what limits would have done to tasks that ran, and changes none', async () => {
  await api.call('POST', '/v1/tenants', { body: { id: 'previewed' } });
  const key = await api.keyOf('previewed', ['submit']);
  const drive = driveTasks(api.parts, 'previewed');
  for (let count = 0; count < 2; count += 1) {
    const { body } = await api.call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x' } });
    await drive.start(body.id);
  }
  // The first runs on, until the second would have had to wait for it.
  await waitFor(async () => (await preview('previewed', { runningByAgent: { echo: 1 } })).body.wouldHaveWaited === 1, {
    deadlineMs: 10_000,
    what: 'a wait in the preview',
  });
  expect((await preview('previewed', { runningByAgent: { echo: 1 } })).body).toMatchObject({
    tasks: 2,
    wouldHaveBeenRefused: 0,
    byLimit: [{ limit: 'runningByAgent.echo', waited: 1 }],
  });
  expect((await preview('previewed', {})).body).toMatchObject({ tasks: 2, wouldHaveWaited: 0, byLimit: [] });
  expect((await api.call('GET', '/v1/tenants/previewed')).body.limits).toBeNull();
});

it('is for owners of the fleet, and refuses unknown tenants and limits', async () => {
  const foreign = await api.keyOf('curious', ['admin']);
  expect((await preview('curious', {}, foreign)).status).toBe(403);
  expect((await preview('nobody', {})).body.code).toBe('tenant.not-found');
  expect((await preview('default', { runing: 1 })).status).toBe(422);
});
