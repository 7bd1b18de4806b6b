import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../support/free-port.ts';
import type { FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { answer, startFakeApi } from '../fake-api.ts';
import { runMuster } from '../run-muster.ts';

let directory: string;
let api: FakeHttpEndpoint;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'muster-find-'));
  api = await startFakeApi({ 'GET /v1/tasks': (response) => answer(response, 200, { items: [], nextCursor: null }) });
});
afterEach(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

const keyUsed = (): string | undefined => api.requests[0]?.headers.authorization;
const leaveRecord = (record: unknown): void => writeFileSync(join(directory, 'local.json'), JSON.stringify(record));

describe('where a command finds the server', () => {
  it('uses the record that the fleet of this machine wrote', async () => {
    leaveRecord({ url: api.url, key: 'local-key' });

    expect(await runMuster(['tasks'], { env: { MUSTER_DATA_DIR: directory } })).toMatchObject({ code: 0 });
    expect(keyUsed()).toBe('Bearer local-key');
  });

  it('prefers options to the environment, and the environment to that record', async () => {
    leaveRecord({ url: 'http://127.0.0.1:9', key: 'local-key' });
    const env = { MUSTER_DATA_DIR: directory, MUSTER_URL: api.url, MUSTER_API_KEY: 'env-key' };

    await runMuster(['tasks'], { env });
    expect(keyUsed()).toBe('Bearer env-key');
    api.requests.length = 0;
    await runMuster(['tasks', '--key', 'option-key', '--url', `${api.url}/`], { env: { ...env, MUSTER_URL: 'http://127.0.0.1:9' } });
    expect(keyUsed()).toBe('Bearer option-key');
  });

  it('never sends the key of the fleet of this machine to another address', async () => {
    leaveRecord({ url: 'http://127.0.0.1:9', key: 'local-key' });

    const result = await runMuster(['tasks', '--url', api.url], { env: { MUSTER_DATA_DIR: directory } });

    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(`There is no key for ${api.url}`) });
    expect(api.requests).toEqual([]);
  });

  it('lists what to do when there is no address', async () => {
    const { code, stderr } = await runMuster(['tasks'], { env: { MUSTER_DATA_DIR: directory } });

    expect(code).toBe(2);
    for (const option of ['npm start', '--url and --key', 'MUSTER_URL and MUSTER_API_KEY']) expect(stderr).toContain(option);
  });

  it('ends with 3 and names the address when nothing listens there', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;

    const { code, stderr, stdout } = await runMuster(['send', 'Hello', '--url', url, '--key', 'k']);

    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^muster: Cannot reach Muster at ${url}: nothing listens there\\..* \\[ECONNREFUSED\\]\\n$`));
  });

  it('refuses an invalid address, also from the environment', async () => {
    expect(await runMuster(['tasks', '--url', 'localhost:3000', '--key', 'k'])).toMatchObject({ code: 2 });
    expect(await runMuster(['tasks'], { env: { MUSTER_URL: 'nonsense' } })).toMatchObject({
      code: 2,
      stderr: 'muster: MUSTER_URL: expected an address like http://localhost:3000 [config.invalid]\n',
    });
  });
});

describe('how a command is understood', () => {
  it.each([
    ['no command', [], 0],
    ['an unknown command', ['nonsense'], 2],
    ['an unknown option', ['tasks', '--nonsense'], 2],
    ['a priority that is none', ['send', 'x', '--priority', '11'], 2],
    ['a context without a key', ['send', 'x', '--context', '=1'], 2],
    ['a question for help', ['send', '--help'], 0],
  ])('ends with its code for %s', async (_what, args, code) => {
    expect((await runMuster(args)).code).toBe(code);
  });
});
