import { rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { runErasures } from '#shared/actions/erase/run-erasures.ts';
import { TaskArchiving } from '#shared/ledger/archive/task-archiving.ts';
import { systemClock } from '#shared/time/clock.ts';
import { cleanTenants } from '../../../../services/worker/chores/clean-tenants.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';

const LONG = 'a long question with much to say. '.repeat(300);
const folder = await useFolder();
const api = await useApi({
  archive: { storage: 'directory', dir: folder, afterMs: 0 },
  agents: { echo: { kind: 'echo' } },
});
const { parts } = api;
const round = async (): Promise<void> => await new TaskArchiving(parts).run(new AbortController().signal);
const lose = (): void => rmSync(join(folder, 'tenants'), { recursive: true, force: true });
afterEach(lose);

async function archived(session = 'ann'): Promise<string> {
  const { id } = (await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: LONG, session, context: { a: 1 } } })).body;
  await driveTasks(parts).complete(id, LONG);
  await round();
  return id;
}

async function objects(tenant = 'default'): Promise<number> {
  const names = await readdir(join(folder, 'tenants', tenant), { recursive: true }).catch(() => []);
  return names.filter((name) => /[0-9a-f]{32}$/.test(name)).length;
}

it('reads an archived task, its transcript and list as before, but for what lists leave out', async () => {
  const id = await archived();
  const { status, body } = await api.call('GET', `/v1/tasks/${id}`);
  expect([status, body]).toMatchObject([200, { input: LONG, output: LONG, context: { a: 1 }, result: { list: [] } }]);
  expect(body).not.toHaveProperty('archived');
  expect((await api.call('GET', '/v1/sessions/ann/transcript')).body).toMatchObject({ items: [{ input: LONG, output: LONG }] });
  const { items } = (await api.call('GET', '/v1/tasks')).body;
  expect(items).toMatchObject([{ id, archived: true, input: LONG.slice(0, 500), output: LONG.slice(0, 500), context: null }]);
  expect((await api.call('GET', '/v1/sessions')).body.items).toMatchObject([{ id: 'ann' }]);
});

it('answers 503 to a read that needs a lost object, and goes on with all else', async () => {
  const id = await archived();
  lose();
  expect(await api.call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 503, body: { code: 'unavailable.files' } });
  for (const path of ['timeline', 'attempts', 'log', 'why', 'artifacts'])
    expect([path, (await api.call('GET', `/v1/tasks/${id}/${path}`)).status]).toEqual([path, 200]);
  expect((await api.call('GET', '/v1/tasks')).status).toBe(200);
  expect((await api.call('DELETE', `/v1/tasks/${id}`)).status).toBe(204);
});

it('loses the objects of a session that is erased', async () => {
  await archived('erased');
  expect(await objects()).toBe(1);
  expect((await api.call('DELETE', '/v1/sessions/erased?erase')).status).toBe(202);
  await runErasures(parts, systemClock, 5000);
  await round();
  expect(await objects()).toBe(0);
});

it('loses all objects of a tenant that has ended', async () => {
  const { tenants, redis, keys } = parts;
  const made = await tenants.create('gone', { name: 'gone', disabled: false, limits: null, createdAt: 1 });
  if (made === null || made === 'full') throw new Error('expected a tenant');
  const key = await api.keyOf(made.id, ['admin']);
  const { id } = (await api.call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: LONG } })).body;
  await driveTasks(parts, made.id).complete(id, LONG);
  await round();
  expect(await objects(made.id)).toBe(1);
  // Long enough ago that no call of it is under way.
  await tenants.end(made, 1000);
  await cleanTenants(parts);
  expect(await objects(made.id)).toBe(0);
  expect(await redis.zscore(keys.fleet.tenantsToClean, made.id)).toBeNull();
});
