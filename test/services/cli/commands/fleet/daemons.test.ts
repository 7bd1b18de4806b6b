import { describe, expect, it } from 'vitest';
import { OFFLINE_DAEMON as OFFLINE } from '../../../../support/daemons/offline-daemon.ts';
import { answer } from '../../fake-api.ts';
import type { MusterResult } from '../../run-muster.ts';
import { type Handlers, useMuster } from '../../use-muster.ts';

const { muster: run, api } = useMuster();

const ONLINE = {
  ...OFFLINE,
  id: 'dmn_2',
  name: 'desk',
  status: 'online',
  running: 1,
  load: 0.256,
  lastBeatAt: '2100-01-01T00:00:00.000Z',
  connectedAt: '2026-01-01T00:00:00.000Z',
  hub: 'hub-1',
  host: 'adas-desk',
  version: '1.2.3',
  memoryMb: 900.4,
  tasks: ['01JQZX5M8Q2V7W3K4N6P9R0T1S'],
  offers: { capabilities: ['code'], slots: 2, agents: ['coder'] },
};

/** Runs a command; changes that reach the API are noted as `METHOD /path body`. */
async function muster(args: string[], daemons: object[] = [OFFLINE, ONLINE]): Promise<MusterResult & { changes: string[]; url: string }> {
  const handlers: Handlers = {
    'GET /v1/daemons': (response) => answer(response, 200, { items: daemons, nextCursor: null }),
    'GET /v1/daemons/dmn_2': (response) => answer(response, 200, ONLINE),
    'POST /v1/daemons': (response) => answer(response, 201, { ...OFFLINE, token: 'md_new' }),
    'POST /v1/daemons/dmn_1/rotate': (response) =>
      answer(response, 200, { ...OFFLINE, capabilities: null, slots: null, token: 'md_other' }),
    'PATCH /v1/daemons/dmn_1': (response) => answer(response, 200, OFFLINE),
    'DELETE /v1/daemons/dmn_1': (response) => void response.writeHead(204).end(),
  };
  const result = await run(handlers, args);
  const { url, requests } = api();
  const changes = requests.flatMap(({ method, path, body }) => (method === 'GET' ? [] : [`${method} ${path} ${body}`.trim()]));
  return { ...result, changes, url };
}

describe('muster daemons', () => {
  it.each([[['daemons']], [['daemons', 'list']]])('%s lists them with what they do', async (args) => {
    const { code, stdout } = await muster(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^dmn_1 +laptop +offline +0\/3 +never +browser,code$/m);
    expect(stdout).toMatch(/^dmn_2 +desk +online +1\/2 +0\.26 +0s +adas-desk +1\.2\.3 +code$/m);
  });

  it('shows a disabled one as such, and what to do when there is none', async () => {
    expect((await muster(['daemons'], [{ ...ONLINE, enabled: false }])).stdout).toMatch(/^dmn_2 +desk +disabled/m);
    expect(await muster(['daemons'], [])).toMatchObject({ stdout: '', stderr: expect.stringContaining('npx muster daemons add') });
  });

  it('add prints only the token on stdout, and the line that starts the daemon beside it', async () => {
    const args = ['daemons', 'add', 'laptop', '--user', 'ada', '--capabilities', 'browser, code', '--slots', '3', '--agents', 'coder'];
    const { code, stdout, stderr, changes, url } = await muster(args);
    expect([code, stdout]).toEqual([0, 'md_new\n']);
    expect(stderr).toContain(
      `MUSTER_DAEMON_TOKEN=md_new npx muster daemon --hub ${url} --capabilities browser,code --slots 3 -- <command>\n`,
    );
    expect(changes).toEqual([
      'POST /v1/daemons {"name":"laptop","user":"ada","capabilities":["browser","code"],"slots":3,"agents":["coder"]}',
    ]);
  });

  it('add leaves to the server what is not named', async () => {
    expect((await muster(['daemons', 'add', 'laptop'])).changes).toEqual(['POST /v1/daemons {"name":"laptop"}']);
  });

  it('add with --json prints the answer', async () => {
    const { stdout } = await muster(['daemons', 'add', 'laptop', '--json']);
    expect(JSON.parse(stdout)).toEqual({ ...OFFLINE, token: 'md_new' });
  });

  it('rotate prints the new token, for a daemon by its name', async () => {
    const { stdout, stderr, changes, url } = await muster(['daemons', 'rotate', 'laptop']);
    expect([stdout, changes]).toEqual(['md_other\n', ['POST /v1/daemons/dmn_1/rotate']]);
    expect(stderr).toContain(`MUSTER_DAEMON_TOKEN=md_other npx muster daemon --hub ${url} -- <command>\n`);
  });

  it.each([
    ['disable', 'laptop', 'PATCH /v1/daemons/dmn_1 {"enabled":false}', 'Daemon "laptop" is disabled.\n'],
    ['enable', 'dmn_1', 'PATCH /v1/daemons/dmn_1 {"enabled":true}', 'Daemon "laptop" is enabled.\n'],
    ['remove', 'laptop', 'DELETE /v1/daemons/dmn_1', 'Daemon "laptop" is removed.\n'],
  ])('%s %s does so', async (verb, given, change, line) => {
    expect(await muster(['daemons', verb, given])).toMatchObject({ code: 0, changes: [change], stdout: line });
  });

  it('show prints what was decided and what the hub knows', async () => {
    const { stdout } = await muster(['daemons', 'show', 'desk']);
    for (const line of [
      /^desk {2}online$/m,
      /may declare +browser, code$/m,
      /may run +3 at once, of any agent$/m,
      /offers +2 at once, of coder$/m,
      /capabilities +code$/m,
      /hub +hub-1$/m,
      /memory +900 MB$/m,
      /last beat +0s ago$/m,
      /runs +01JQZX5M8Q2V7W3K4N6P9R0T1S$/m,
    ])
      expect(stdout).toMatch(line);
    const offline = (await muster(['daemons', 'show', 'laptop'])).stdout;
    expect(offline).toMatch(/last beat +never$/m);
    expect(offline).not.toMatch(/hub|runs|load/);
  });

  it('names the daemons that there are when one is not found', async () => {
    const { code, stderr, changes } = await muster(['daemons', 'remove', 'nowhere']);
    expect([code, changes]).toEqual([1, []]);
    expect(stderr).toContain('There is no daemon "nowhere" [daemon.not-found]\nThere are: "laptop", "desk"');
  });

  it('takes no number of slots that is none', async () => {
    expect(await muster(['daemons', 'add', 'x', '--slots', 'many'])).toMatchObject({ code: 2, changes: [] });
  });
});

it('muster fleet lists hubs with the workers, and counts the daemons', async () => {
  const worker = {
    id: 'w-1',
    status: 'idle',
    version: null,
    slots: 2,
    running: 0,
    memoryMb: null,
    cpu: null,
    lastBeatAt: '2100-01-01T00:00:00.000Z',
  };
  const body = {
    workers: [{ ...worker, queues: ['tasks'] }],
    hubs: [{ ...worker, id: 'hub-1', queues: ['remote'] }],
    daemons: [
      { status: 'online', running: 1 },
      { status: 'offline', running: 0 },
    ],
  };
  const { stdout, stderr } = await run({ 'GET /v1/fleet': (response) => answer(response, 200, body) }, ['fleet']);
  expect(stdout).toMatch(/^hub-1 +idle +0\/2 .*remote$/m);
  expect(stderr).toContain('Daemons: 1 online, 1 offline; 1 task runs there.');
});
