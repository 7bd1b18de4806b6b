import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../../support/fake-http-endpoint.ts';
import { answer, record, startFakeApi, TASK_ID } from '../../fake-api.ts';
import { runMuster, type MusterResult } from '../../run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

function muster(...args: string[]): Promise<MusterResult> {
  return runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' } });
}

describe('muster tasks', () => {
  it('sends its filters and shows a line per task, without escape sequences in a pipe', async () => {
    const items = [record({ input: 'Say\nit \u001B[31mred', session: 'chat:1' }), record({ status: 'permanently_failed' })];
    api = await startFakeApi({ 'GET /v1/tasks': (response) => answer(response, 200, { items, nextCursor: TASK_ID }) });

    const result = await muster('tasks', '--status', 'completed', '--agent', 'echo', '--session', 'chat:1', '--limit', '2');

    expect(result.code).toBe(0);
    expect(api.requests[0]?.path).toBe('/v1/tasks?limit=2&status=completed&agent=echo&session=chat%3A1');
    const [heading, first, second] = result.stdout.split('\n');
    expect(heading?.split(/ +/)).toEqual(['ID', 'STATUS', 'AGENT', 'SESSION', 'PRIO', 'AGE', 'INPUT']);
    expect(first).toMatch(/^\S+ {2}completed +echo {3}chat:1 +8 +\d+d +Say it red$/);
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

const LOG = [
  { at: '2026-01-01T00:00:01.000Z', attempt: 1, kind: 'log', level: 'warn', text: 'slow', fields: { ms: 900 }, percent: null },
  { at: '2026-01-01T00:00:02.000Z', attempt: 1, kind: 'progress', level: null, text: 'half of it', fields: null, percent: 50 },
];

describe('muster journal', () => {
  const entry = { kind: 'step', status: 'completed', attempt: 1, startedAt: LOG[0]?.at, endedAt: LOG[1]?.at, replays: 0 };
  const items = [
    { ...entry, seq: 2, name: 'find it', bytes: 11, value: { order: 7 } },
    { ...entry, seq: 3, name: 'read it', bytes: 70_000, value: null },
    { ...entry, seq: 4, name: 'hidden', bytes: 5 },
  ];

  it('shows what a model said and called, and how often an entry was replayed', async () => {
    const value = { text: 'Let me look.', message: {}, calls: [{ name: 'look' }, { name: 'pay' }] };
    const model = { ...entry, seq: 2, kind: 'model', name: 'small', bytes: 99, value, replays: 1 };
    api = await startFakeApi({
      [`GET /v1/tasks/${TASK_ID}/journal`]: (response) => answer(response, 200, { items: [model], nextCursor: null }),
    });
    expect((await muster('journal', TASK_ID)).stdout).toMatch(/small +completed .* once +Let me look\. calls look calls pay\n/);
  });

  it('prints entries as they come, until the run has ended', async () => {
    let reads = 0;
    const begun = { ...entry, seq: 2, name: 'find it', status: 'started', endedAt: null };
    api = await startFakeApi({
      [`GET /v1/tasks/${TASK_ID}`]: (response) => answer(response, 200, record({ status: (reads += 1) === 3 ? 'completed' : 'running' })),
      [`GET /v1/tasks/${TASK_ID}/journal`]: (response) =>
        answer(response, 200, { items: reads === 1 ? [begun] : items.slice(0, reads - 1), nextCursor: null }),
    });
    const { stdout, code } = await muster('journal', TASK_ID, '--follow');
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^2 {2}step {2}find it {2}started/),
      expect.stringMatching(/^2 {2}step {2}find it {2}completed .*\{"order":7\}/),
      expect.stringMatching(/^3 {2}step {2}read it {2}completed .*70000 bytes/),
    ]);
  });

  it('shows what each entry gave, or how large that is, and one of them whole', async () => {
    const path = `GET /v1/tasks/${TASK_ID}/journal`;
    api = await startFakeApi({
      [path]: (response) => answer(response, 200, { items, nextCursor: null }),
      [`${path}/3`]: (response) => answer(response, 200, items[1]),
    });
    const lines = (await muster('journal', TASK_ID)).stdout.split('\n').slice(1, 4);
    expect(lines.map((line) => line.trimEnd().split(/ {2,}/).at(-1))).toEqual(['{"order":7}', '70000 bytes', '5 bytes']);
    expect(JSON.parse((await muster('journal', TASK_ID, '--entry', '3')).stdout)).toEqual(items[1]);
    expect(await muster('journal', TASK_ID, '--entry', 'x')).toMatchObject({ code: 2 });
  });
});

describe('muster task', () => {
  it('shows the stack and stderr of a failed attempt without control characters, also in a pipe', async () => {
    const path = `GET /v1/tasks/${TASK_ID}`;
    const details = { stack: 'Error: no\n    at run (a.ts:1:2)', stderr: 'the \u001B[31mreason\u001B[0m\u009B2J\r\n' };
    const error = { code: 'AGENT_ERROR', message: 'no \u001B]0;title\u0007way', retryable: true, details };
    const attempt = {
      number: 1,
      worker: 'w1',
      startedAt: '2026-01-01T00:00:01.000Z',
      endedAt: '2026-01-01T00:00:02.000Z',
      status: 'failed',
      error,
    };
    const task = record({ status: 'permanently_failed', error, output: 'one\u001B[2J two\u0085' });
    api = await startFakeApi({
      [path]: (response) => answer(response, 200, task),
      [`${path}/attempts`]: (response) => answer(response, 200, { items: [attempt], nextCursor: null }),
      [`${path}/timeline`]: (response) => answer(response, 200, { items: [], nextCursor: null }),
    });

    const { stdout } = await muster('task', TASK_ID);

    expect(stdout).toContain('     stack:\n       Error: no\n           at run (a.ts:1:2)\n     stderr:\n       the reason\n');
    expect(stdout).toContain('no way [AGENT_ERROR]');
    expect(stdout).toContain('\nOutput\n  one two\n');
    // oxlint-disable-next-line no-control-regex -- none may come
    const steering = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;
    expect(stdout).not.toMatch(steering);
    const json = (await muster('task', TASK_ID, '--json')).stdout;
    expect(json).not.toMatch(steering);
    expect(JSON.parse(json)).toEqual(task);
  });

  it('shows the record, the attempts and the timeline', async () => {
    const path = `GET /v1/tasks/${TASK_ID}`;
    const attempt = {
      number: 1,
      worker: 'w1',
      daemonName: 'laptop',
      startedAt: '2026-01-01T00:00:01.000Z',
      endedAt: '2026-01-01T00:00:02.000Z',
      status: 'success',
      error: null,
      model: 'small',
      notes: ['large: it failed; small was called instead'],
    };
    api = await startFakeApi({
      [`${path}/attempts`]: (response) => answer(response, 200, { items: [attempt], nextCursor: null }),
      [`${path}/log`]: (response) => answer(response, 200, { items: LOG, nextCursor: null }),
      [`${path}/timeline`]: (response) =>
        answer(response, 200, { items: [{ status: 'queued', at: '2026-01-01T00:00:00.250Z', note: null }], nextCursor: null }),
    });

    const { stdout } = await muster('task', TASK_ID);

    expect(stdout).toContain(`${TASK_ID}  completed\n`);
    expect(stdout).toContain('\nInput\n  Hello\n\nOutput\n  Hello you\n');
    const noted = '     answered by small\n     large: it failed; small was called instead\n';
    expect(stdout).toContain(`\nAttempts\n  1  success  1.0 s  laptop (w1)\n${noted}`);
    expect(stdout).toContain('\nTimeline\n  00:00:00.250 UTC  queued\n');
    expect(stdout).toContain('\nLog\n  00:00:01.000 UTC  warn      slow {"ms":900}\n  00:00:02.000 UTC  progress  50 % half of it\n');
  });
});

const nodeOf = (id: string, changes: object): object => ({
  id,
  agent: 'reader',
  status: 'completed',
  input: 'Tea?\u001B[31m',
  costMicroUsd: 1200,
  createdAt: '2026-01-01T00:00:00.000Z',
  completedAt: '2026-01-01T00:00:02.500Z',
  children: [],
  hasMore: false,
  ...changes,
});

describe('muster tree', () => {
  it('prints a line a task with its agent, status, time and cost, those below it indented, and the sum', async () => {
    const children = [nodeOf('B', { children: [nodeOf('C', { agent: 'page' })] }), nodeOf('D', { status: 'stale', costMicroUsd: null })];
    const root = nodeOf(TASK_ID, { agent: 'research', hasMore: true, children });
    api = await startFakeApi({ [`GET /v1/tasks/${TASK_ID}/tree`]: (response) => answer(response, 200, { root }) });

    expect((await muster('tree', TASK_ID)).stdout).toBe(
      [
        'AGENT        STATUS     TOOK   COST     ID                          INPUT',
        `research     completed  2.5 s  $0.0012  ${TASK_ID}  Tea?`,
        '├─ reader    completed  2.5 s  $0.0012  B                           Tea?',
        '│  └─ page   completed  2.5 s  $0.0012  C                           Tea?',
        '├─ reader    stale      2.5 s           D                           Tea?',
        '└─ and more',
        '',
        '4 tasks shown, $0.0036 in all.',
        '',
      ].join('\n'),
    );
    expect(JSON.parse((await muster('tree', TASK_ID, '--json')).stdout)).toEqual({ root });
  });
});

describe('muster why', () => {
  const WHY = `GET /v1/tasks/${TASK_ID}/why`;

  it('prints a sentence per reason', async () => {
    const since = new Date(Date.now() - 183_900_000).toISOString();
    const reasons = [
      { gate: 'lane', detail: 'behind task X in session "q"', since, until: null, taskId: 'X' },
      { gate: 'cap', detail: 'tenant cap 20/20', since: null, until: null, taskId: null },
    ];
    api = await startFakeApi({ [WHY]: (response) => answer(response, 200, { status: 'pending', reasons, estimatedStartMs: 2500 }) });

    const { stdout } = await muster('why', TASK_ID);

    expect(stdout).toBe(
      'It waits: behind task X in session "q", for 2 d 3 h.\nIt waits: tenant cap 20/20.\nIt should start in about 2.5 s.\n',
    );
  });

  it('names the command that answers its question, and shortens hashes', async () => {
    // Its end is cut, as in a long question.
    const hash = '0123456789abcdef'.repeat(4).slice(0, 56);
    const reasons = [{ gate: 'question', detail: `asked is "May it?" sha256 ${hash}`, since: null, until: null, taskId: null }];
    api = await startFakeApi({
      [WHY]: (response) => answer(response, 200, { status: 'suspended', reasons }),
      'GET /v1/questions': (response) => answer(response, 200, { items: [{ id: `${TASK_ID}.3.5f1d7a20`, choices: ['yes', 'no'] }] }),
    });
    expect((await muster('why', TASK_ID)).stdout).toBe(
      `It waits: asked is "May it?" sha256 0123456789ab\u2026.\nAnswer it with npx muster answer ${TASK_ID}.3.5f1d7a20 <yes|no>\n`,
    );
  });

  it('prints what helps, and every gate on the path to a start', async () => {
    const helps = 'It starts when a slot becomes free.';
    const reasons = [{ gate: 'queue', detail: 'waiting for a free slot', since: null, until: null, taskId: null }];
    const gates = [
      { gate: 'cap', state: 'open', detail: 'tenant cap 3/20', helps: null },
      { gate: 'queue', state: 'closed', detail: 'waiting for a free slot', helps },
    ];
    api = await startFakeApi({ [WHY]: (response) => answer(response, 200, { status: 'queued', reasons, gates, estimatedStartMs: null }) });

    expect((await muster('why', TASK_ID)).stdout).toBe(
      [
        'It waits: waiting for a free slot.',
        helps,
        '',
        'Gates',
        '  open    cap    tenant cap 3/20',
        '  closed  queue  waiting for a free slot',
        '',
      ].join('\n'),
    );
  });

  it('prints that the task runs when it does', async () => {
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

    expect(stdout).toBe('The task runs and is being stopped.\nSo are its 2 sub-tasks.\n');
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({ reason: 'enough' });
  });

  it('retries a failed task', async () => {
    api = await startFakeApi({
      [`POST /v1/tasks/${TASK_ID}/retry`]: (response) => answer(response, 202, { id: TASK_ID, status: 'queued' }),
    });

    expect(await muster('retry', TASK_ID)).toMatchObject({ code: 0, stdout: expect.stringContaining('queued again') });
  });

  it('makes a new task that goes on from an entry of the journal, of one task alone', async () => {
    api = await startFakeApi({
      [`POST /v1/tasks/${TASK_ID}/retry`]: (response) => answer(response, 202, { id: 'NEW', status: 'queued' }),
    });

    expect((await muster('retry', TASK_ID, '--from-step', '4')).stdout).toBe(
      'Task NEW goes on from entry 4 of the journal. Show it with npx muster task NEW\n',
    );
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({ fromStep: 4 });
    expect(await muster('retry', '--all', '--from-step', '4')).toMatchObject({ code: 2, stdout: '' });
  });

  it('ends with 1 when there is no such task', async () => {
    api = await startFakeApi({
      'POST /v1/tasks/none/cancel': (response) => answer(response, 404, { code: 'task.not-found', detail: 'There is no such task' }),
    });

    expect(await muster('cancel', 'none')).toEqual({ code: 1, stdout: '', stderr: 'muster: There is no such task [task.not-found]\n' });
  });
});
