import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { answer, startFakeApi, TASK_ID } from '../fake-api.ts';
import { runMuster, type MusterResult } from '../run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

function muster(...args: string[]): Promise<MusterResult> {
  return runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' } });
}

const SESSION = {
  id: 'pr/7',
  mode: 'steer',
  modeSource: 'session',
  surface: 'webchat',
  holder: { taskId: TASK_ID, startedAt: '2026-01-01T00:00:00.000Z', worker: 'w1', status: 'running', reason: null },
  waiting: [{ taskId: 'next', position: 1, reason: `behind task ${TASK_ID}` }],
  waitingTotal: 3,
  transcriptLength: 4,
};
const { waiting: _waiting, transcriptLength: _length, ...SUMMARY } = SESSION;

describe('muster sessions', () => {
  it('lists a line per session, and sends its filters', async () => {
    const items = [SUMMARY, { ...SUMMARY, id: 'quiet', mode: 'queue', holder: null, waitingTotal: 0 }];
    api = await startFakeApi({ 'GET /v1/sessions': (response) => answer(response, 200, { items, nextCursor: 'quiet' }) });

    const { stdout, stderr } = await muster('sessions', '--active', '--limit', '2', '--q', 'ada', '--origin', 'telegram');

    const { pathname, searchParams } = new URL(api.requests[0]?.path ?? '', 'http://api');
    expect(pathname).toBe('/v1/sessions');
    expect(Object.fromEntries(searchParams)).toEqual({ active: 'true', limit: '2', q: 'ada', origin: 'telegram' });
    const [heading, first, second] = stdout.split('\n');
    expect(heading?.split(/ {2,}/)).toEqual(['SESSION', 'MODE', 'WAITING', 'RUNS FOR', 'TASK']);
    expect(first).toMatch(new RegExp(`^pr/7 +steer +3 +\\d+d +${TASK_ID}$`));
    expect(second).toMatch(/^quiet +queue +0$/);
    expect(stderr).toContain('--cursor quiet');
  });

  it('shows one: what runs, what waits and why', async () => {
    api = await startFakeApi({ 'GET /v1/sessions/pr%2F7': (response) => answer(response, 200, SESSION) });

    for (const args of [['pr/7'], ['show', 'pr/7']]) {
      const { stdout } = await muster('sessions', ...args);
      expect(stdout).toMatch(/^pr\/7\n {2}mode +steer, chosen for this session\n {2}turns +4\n/);
      expect(stdout).toContain(`runs     ${TASK_ID} for `);
      expect(stdout).toContain(`  1  next  behind task ${TASK_ID}\n  and 2 more\n`);
    }
    expect(JSON.parse((await muster('sessions', 'show', 'pr/7', '--json')).stdout)).toEqual(SESSION);
  });

  it('shows what its programs keep for their next run, with what they have changed', async () => {
    const changes = ' a.txt | 1 +\n 1 file changed, 1 insertion(+)';
    const workspaces = [
      { agent: 'coder', taskId: TASK_ID, keptAt: '2026-01-01T00:00:00Z', expiresAt: '2026-01-08T00:00:00Z', bytes: 5, changes },
    ];
    api = await startFakeApi({ 'GET /v1/sessions/pr%2F7': (response) => answer(response, 200, { ...SESSION, workspaces }) });

    const { stdout } = await muster('sessions', 'pr/7');
    expect(stdout).toMatch(/\nKept of coder until .*\n {3}a\.txt \| 1 \+\n {3}1 file changed, 1 insertion\(\+\)\n$/);
  });

  it('says that nothing is known of a session without tasks and turns', async () => {
    const empty = { ...SESSION, holder: null, waiting: [], waitingTotal: 0, transcriptLength: 0 };
    api = await startFakeApi({
      'GET /v1/sessions/typo': (response) => answer(response, 200, { ...empty, id: 'typo' }),
      'GET /v1/sessions/old': (response) => answer(response, 200, { ...empty, id: 'old', transcriptLength: 2 }),
    });
    const note = 'Nothing is known of this session. Those that have tasks: npx muster sessions\n';
    expect(await muster('sessions', 'typo')).toMatchObject({ code: 0, stderr: note });
    expect(await muster('sessions', 'old')).toMatchObject({ code: 0, stderr: '' });
  });

  it('stops a session and prints how many tasks that concerns', async () => {
    api = await startFakeApi({ 'POST /v1/sessions/demo/stop': (response) => answer(response, 200, { withdrawn: 2, stopped: 1 }) });

    expect((await muster('sessions', 'stop', 'demo')).stdout).toBe('2 waiting tasks are cancelled.\nThe running task is being stopped.\n');
  });

  it('sets a mode', async () => {
    api = await startFakeApi({ 'PUT /v1/sessions/demo/mode': (response) => answer(response, 200, { ...SESSION, mode: 'collect' }) });

    expect((await muster('sessions', 'mode', 'demo', 'collect')).stdout).toBe('The mode is collect.\n');
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({ mode: 'collect' });
  });
});

describe('muster send with a mode', () => {
  it('sends it with the session', async () => {
    api = await startFakeApi();

    await muster('send', 'Hello', '--session', 'demo', '--mode', 'steer', '--no-wait');

    expect(JSON.parse(api.requests[0]?.body ?? '')).toMatchObject({ session: 'demo', mode: 'steer' });
  });

  it('ends with 2 without a session, or with an unknown mode', async () => {
    api = await startFakeApi();

    expect(await muster('send', 'Hello', '--mode', 'steer')).toMatchObject({ code: 2, stderr: expect.stringContaining('--session') });
    expect(await muster('send', 'Hello', '--session', 'x', '--mode', 'nonsense')).toMatchObject({ code: 2 });
    expect(api.requests).toEqual([]);
  });
});
