import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { answer, record, startFakeApi, TASK_ID } from './fake-api.ts';
import { runMuster, type MusterResult } from './run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

function muster(...args: string[]): Promise<MusterResult> {
  return runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' } });
}

describe('muster tasks', () => {
  it('hands its filters on and shows a line per task, without escapes in a pipe', async () => {
    const items = [record({ input: 'Say\nit \u001B[31mred', session: 'chat:1' }), record({ status: 'permanently_failed' })];
    api = await startFakeApi({ 'GET /v1/tasks': (response) => answer(response, 200, { items, nextCursor: TASK_ID }) });

    const result = await muster('tasks', '--status', 'completed', '--agent', 'echo', '--session', 'chat:1', '--limit', '2');

    expect(result.code).toBe(0);
    expect(api.requests[0]?.path).toBe('/v1/tasks?limit=2&status=completed&agent=echo&session=chat%3A1');
    const [heading, first, second] = result.stdout.split('\n');
    expect(heading?.split(/ +/)).toEqual(['ID', 'STATUS', 'AGENT', 'SESSION', 'PRIO', 'AGE', 'INPUT']);
    expect(first).toMatch(/^\S+ {2}completed +echo {3}chat:1 +8 +\d+d +Say it \[31mred$/);
    expect(second).toContain('permanently_failed');
    expect(result.stdout).not.toContain('\u001B');
    expect(result.stderr).toContain(`--cursor ${TASK_ID}`);
  });

  it('prints the answer of the server for --json', async () => {
    const page = { items: [record()], nextCursor: null };
    api = await startFakeApi({ 'GET /v1/tasks': (response) => answer(response, 200, page) });

    expect(JSON.parse((await muster('tasks', '--json')).stdout)).toEqual(page);
  });
});

describe('muster task', () => {
  it('shows the record, the attempts and the timeline', async () => {
    const path = `GET /v1/tasks/${TASK_ID}`;
    const attempt = {
      number: 1,
      worker: 'w1',
      startedAt: '2026-01-01T00:00:01.000Z',
      endedAt: '2026-01-01T00:00:02.000Z',
      status: 'success',
      error: null,
    };
    api = await startFakeApi({
      [`${path}/attempts`]: (response) => answer(response, 200, { items: [attempt], nextCursor: null }),
      [`${path}/timeline`]: (response) =>
        answer(response, 200, { items: [{ status: 'queued', at: '2026-01-01T00:00:00.250Z', note: null }], nextCursor: null }),
    });

    const { stdout } = await muster('task', TASK_ID);

    expect(stdout).toContain(`${TASK_ID}  completed\n`);
    expect(stdout).toContain('\nInput\n  Hello\n\nOutput\n  Hello you\n');
    expect(stdout).toContain('\nAttempts\n  1  success  1.0 s  w1\n');
    expect(stdout).toContain('\nTimeline\n  00:00:00.250  queued\n');
  });
});

describe('muster why', () => {
  const WHY = `GET /v1/tasks/${TASK_ID}/why`;

  it('says a sentence per reason', async () => {
    const since = new Date(Date.now() - 185_000).toISOString();
    const reasons = [
      { gate: 'lane', detail: 'behind task X in session "q"', since, until: null, taskId: 'X' },
      { gate: 'cap', detail: 'tenant cap 20/20', since: null, until: null, taskId: null },
    ];
    api = await startFakeApi({ [WHY]: (response) => answer(response, 200, { status: 'pending', reasons, estimatedStartMs: 2500 }) });

    const { stdout } = await muster('why', TASK_ID);

    expect(stdout).toBe('It waits: behind task X in session "q", for 3m.\nIt waits: tenant cap 20/20.\nIt should start in about 2.5 s.\n');
  });

  it('says so when the task runs', async () => {
    api = await startFakeApi({ [WHY]: (response) => answer(response, 200, { status: 'running', reasons: [], estimatedStartMs: null }) });

    expect((await muster('why', TASK_ID)).stdout).toBe('It runs.\n');
  });
});

describe('muster cancel and retry', () => {
  it('cancels with the reason given', async () => {
    api = await startFakeApi({
      [`POST /v1/tasks/${TASK_ID}/cancel`]: (response) =>
        answer(response, 202, { id: TASK_ID, status: 'running', stopping: true, subTasks: 2 }),
    });

    const { stdout } = await muster('cancel', TASK_ID, '--reason', 'enough');

    expect(stdout).toBe('It runs and is being stopped.\nSo are 2 tasks that it delegated.\n');
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({ reason: 'enough' });
  });

  it('opens a failed task again', async () => {
    api = await startFakeApi({
      [`POST /v1/tasks/${TASK_ID}/retry`]: (response) => answer(response, 202, { id: TASK_ID, status: 'queued' }),
    });

    expect(await muster('retry', TASK_ID)).toMatchObject({ code: 0, stdout: expect.stringContaining('queued again') });
  });

  it('ends with 1 when there is no such task', async () => {
    api = await startFakeApi({
      'POST /v1/tasks/none/cancel': (response) => answer(response, 404, { code: 'task.not-found', detail: 'There is no such task' }),
    });

    expect(await muster('cancel', 'none')).toEqual({ code: 1, stdout: '', stderr: 'muster: There is no such task [task.not-found]\n' });
  });
});
