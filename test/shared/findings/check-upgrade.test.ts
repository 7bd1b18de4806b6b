import { expect, it } from 'vitest';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { storedState } from '../ledger/support/stored-states.ts';
import { beatAs } from '../queue/registry/test-processes.ts';
import { checkRows } from './check-rows.ts';

const { redis, keys, queues, config } = await useEmptyParts();
const row = async (name = 'Upgrade'): Promise<string> =>
  (await checkRows({ redis, keys, queues, settings: config.settings, seal: new Seal() }, name)).join('\n');

it('says that nothing is migrated, and that processes know what this release writes', async () => {
  await redis.set(keys.fleet.installation, '3 1');
  await beatAs({ redis, keys }, { id: 'a' });
  expect(await row()).toMatch(
    /^ok Upgrade: to \d+\.\d+\.\d+: no data is migrated, form 3 is read and written; the one process knows what this release writes; no run is suspended$/,
  );
});

it('names processes of 0.2.0, which may run beside this release, and the order of the steps', async () => {
  await redis.set(keys.fleet.installation, '3 1');
  const process = {
    id: 'api@x:1',
    services: ['api'],
    startedAt: 0,
    release: '0.2.0',
    configuration: '0.2.0#a',
    zoneData: '2026c',
    form: 3,
  };
  await redis.zadd(keys.fleet.processes, Date.now() + 1000, JSON.stringify(process));
  await beatAs({ redis, keys }, { id: 'a' });
  expect(await row()).toContain(
    '; api@x:1 (0.2.0) of an earlier release may run beside it: replace what serves HTTP first and workers last, ',
  );
});

it('names processes of a later release, beside which a rollback starts', async () => {
  await redis.set(keys.fleet.installation, '3 1');
  const process = { id: 'w@x:1', services: [], startedAt: 0, release: '9', configuration: '9#a', zoneData: '2026c', form: 3, level: 99 };
  await redis.zadd(keys.fleet.processes, Date.now() + 1000, JSON.stringify(process));
  expect(await row()).toContain('; w@x:1 (9) of a later release may run beside it, to roll back: workers end first; ');
});

it('says of data of 0.1 what becomes of it, and that there is no way back', async () => {
  await redis.set(keys.fleet.installation, '2 1');
  expect(await row()).toContain(': the first process takes over the data of 0.1 (form 2 becomes 3) once all processes of 0.1 have ended');
  await redis.set(keys.fleet.installation, '99 1');
  expect(await row()).toContain(': form 99 of the data cannot be read, this release has form 3; no run is suspended');
  await redis.del(keys.fleet.installation);
  expect(await row()).toContain(': there is no data yet; ');
});

it('says of processes of 0.1 that they are to be stopped first, and nothing else', async () => {
  await redis.set(keys.fleet.installation, '2 1');
  const process = { id: 'api@x:1', services: ['api'], startedAt: 0, release: '0.1.0', configuration: '0.1.0#a', zoneData: '2026c' };
  await redis.zadd(keys.fleet.processes, Date.now() + 1000, JSON.stringify(process));
  expect(await row('Data in Redis')).toMatch(
    /^fail Data in Redis: .* processes of it run: api@x:1\. Stop all of them, then start this one: it takes the data over\. Nothing of it is changed until then\.$/,
  );
});

it('counts suspended runs by the version of the agent that they began with', async () => {
  const own = keys.tenant('default');
  const runs = { a: { version: '1' }, b: { version: '1' }, c: {} };
  for (const [id, fields] of Object.entries(runs)) {
    await redis.hset(own.states, id, storedState({ status: 'suspended', createdAt: 1, class: 'u1', agent: 'writer', ...fields }));
    await redis.zadd(own.live, 0, `suspended/${id}`);
  }
  expect(await row()).toMatch(/; suspended: 1 without a version, 2 of writer@1, which processes of 0\.2\.0 leave as they are$/);
});
