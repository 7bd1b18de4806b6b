import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answer, startFakeApi } from '../../fake-api.ts';
import { runMuster } from '../../run-muster.ts';
import { type Handlers, useMuster } from '../../use-muster.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const { api, muster } = useMuster();
const folder = await useFolder();

const critical = { code: 'queue.unserved', level: 'critical', text: 'Tasks wait in the queue "chat".', since: '2100-01-01T00:00:00.000Z' };
const warning = { code: 'schedule.paused', level: 'warning', text: 'The schedule "daily" is paused.', since: null };
const failing = { code: 'agent.failing', level: 'critical', text: '9 of 9 attempts of mine failed.', since: null, subject: 'mine' };
const FINE = { name: 'Attention', state: 'ok', detail: 'Nothing else needs attention.' };
const CHECKS = [
  { name: 'Redis version', state: 'ok', detail: '8.2' },
  { name: 'Redis maxmemory-policy', state: 'fail', detail: 'allkeys-lru' },
];

const fleet = (...items: object[]): Handlers => ({
  'GET /v1/attention': (response) => answer(response, 200, { items, nextCursor: null }),
  'GET /v1/checks': (response) => answer(response, 200, { items: CHECKS, checkedAt: '2026-05-01T09:00:00.000Z', nextCursor: null }),
});
const found = async (handlers: Handlers): Promise<unknown> => JSON.parse((await muster(handlers, ['doctor', '--json'])).stdout);

it('is given the checks of a fleet elsewhere, and what needs attention there', async () => {
  expect(await found(fleet(critical, warning, failing))).toEqual({
    json: true,
    found: [
      ...CHECKS,
      { name: 'Attention', state: 'fail', detail: 'Tasks wait in the queue "chat". (for 0 ms)' },
      { name: 'Attention', state: 'warn', detail: 'The schedule "daily" is paused.', of: 'schedule' },
      { name: 'Attention', state: 'warn', detail: '9 of 9 attempts of mine failed.', of: 'agent mine' },
    ],
  });
  expect(await found(fleet())).toMatchObject({ found: [...CHECKS, FINE] });
});

it('takes the address of --url, also beside a fleet of this machine', async () => {
  const [here, elsewhere] = await Promise.all([startFakeApi(fleet()), startFakeApi(fleet())]);
  try {
    await writeFile(join(folder, 'local.json'), JSON.stringify({ url: here.url, key: 'k' }));
    const env = { MUSTER_DATA_DIR: folder };
    const own = await runMuster(['doctor', '--json', '--url', here.url], { env });
    const other = await runMuster(['doctor', '--json', '--url', elsewhere.url, '--key', 'k'], { env });
    // The Redis of this machine's fleet is checked from here, which reads more.
    expect([own, other].map(({ stdout }) => JSON.parse(stdout).found)).toEqual([[FINE], [...CHECKS, FINE]]);
    expect(here.requests.map(({ path }) => path)).toEqual(['/v1/attention']);
  } finally {
    await Promise.all([here.close(), elsewhere.close()]);
  }
});

it('says why the checks could not be read, and goes on with what needs attention', async () => {
  const refuse: Handlers = {
    'GET /v1/checks': (response) => answer(response, 403, { code: 'auth.forbidden', detail: 'Not with this key' }),
  };
  expect(await found({ ...fleet(), ...refuse })).toMatchObject({
    found: [{ name: 'Fleet', state: 'skip', detail: 'could not be read: Not with this key' }, FINE],
  });
  expect(api().requests).toHaveLength(2);
});

it('fails where the fleet of an address does not answer, or is not ready', async () => {
  const refuse: Handlers = {
    'GET /v1/checks': (response) => answer(response, 503, { code: 'unavailable.redis', detail: 'Redis does not answer' }),
  };
  expect(await found({ ...fleet(), ...refuse })).toMatchObject({
    found: [{ name: 'Fleet', state: 'fail', detail: expect.stringMatching(/^could not be read: Redis does not answer/) }, FINE],
  });
  const gone = await startFakeApi(fleet());
  await gone.close();
  const { stdout } = await runMuster(['doctor', '--json', '--url', gone.url, '--key', 'k']);
  expect(JSON.parse(stdout)).toMatchObject({
    found: [
      { name: 'Fleet', state: 'fail' },
      { name: 'Attention', state: 'skip' },
    ],
  });
});

it.each([
  ['a key that is not known', 401, 'auth.invalid'],
  ['another server there', 404, 'request.unknown-path'],
])('fails at %s', async (_name, status, code) => {
  const refuse: Handlers = { 'GET /v1/checks': (response) => answer(response, status, { code, detail: 'Not here' }) };
  expect(await found({ ...fleet(), ...refuse })).toMatchObject({
    found: [{ name: 'Fleet', state: 'fail', detail: 'could not be read: Not here' }, FINE],
  });
});

it('fails where an address is named and no key', async () => {
  const { stdout } = await runMuster(['doctor', '--json', '--url', 'http://127.0.0.1:9']);
  expect(JSON.parse(stdout)).toMatchObject({
    found: [
      { name: 'Fleet', state: 'fail', detail: expect.stringMatching(/^could not be read: There is no key for/) },
      { name: 'Attention', state: 'skip' },
    ],
  });
});

it('skips what needs attention where no fleet is found', async () => {
  const { code, stdout } = await runMuster(['doctor', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { json: true, found: [{ name: 'Attention', state: 'skip', detail: 'could not be read: There is no address.' }] },
  ]);
});

it('wraps its rows at the width of a terminal, below what was found', async () => {
  const { stdout } = await runMuster(['doctor'], { columns: 44 });
  expect(stdout).toBe(['  skip  Attention  could not be read: There', '                   is no address.', ''].join('\n'));
  expect((await runMuster(['doctor'])).stdout.split('\n')).toHaveLength(2);
});
