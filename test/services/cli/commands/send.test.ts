import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { answer, event, openStream, record, startFakeApi, TASK_ID } from '../fake-api.ts';
import { runMuster, startMuster, type MusterResult } from '../run-muster.ts';

/** Starting a process takes a few seconds on a busy machine. */
const PROCESS_MS = 60_000;

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const STREAM = `GET /v1/tasks/${TASK_ID}/stream`;
const RECORD = `GET /v1/tasks/${TASK_ID}`;

/** With an address and a key, as most commands are run. */
function muster(args: string[], extra: { input?: string } = {}): Promise<MusterResult> {
  return runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' }, ...extra });
}

describe('muster send', () => {
  it('sends the text under an idempotency key of its own, and ends with 0 when the task completed', async () => {
    api = await startFakeApi();

    const result = await muster([
      'send',
      'Hello',
      '--session',
      's1',
      '--priority',
      'high',
      '--context',
      'paceMs=5',
      '--context',
      'who=you',
    ]);

    expect(result).toMatchObject({ code: 0, stdout: 'Hello you\n' });
    expect(result.stderr).toBe(`task ${TASK_ID}\ncompleted in 1.5 s\n`);
    const [request] = api.requests;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      agent: 'echo',
      input: 'Hello',
      channel: 'cli',
      session: 's1',
      priority: 'high',
      context: { paceMs: 5, who: 'you' },
    });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer a-key',
      'idempotency-key': expect.stringMatching(/^cli-[\da-f-]{36}$/),
    });
  });

  it('says how long the task may take', async () => {
    api = await startFakeApi();
    await muster(['send', 'Hello', '--within', '24h']);
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({ agent: 'echo', input: 'Hello', channel: 'cli', within: '24h' });
    const refused = await muster(['send', 'Hello', '--within', 'soon']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Expected a time such as 24h or 2 days.') });
  });

  it('names what the task needs of a daemon', async () => {
    api = await startFakeApi();
    await muster(['send', 'Hello', '--needs', 'browser, code', '--daemon', 'laptop']);
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({
      agent: 'echo',
      input: 'Hello',
      channel: 'cli',
      requirements: { capabilities: ['browser', 'code'], targetDaemon: 'laptop' },
    });
  });

  it('writes the output as it arrives, not when the task has ended', { timeout: PROCESS_MS }, async () => {
    const { promise: seen, resolve: sawIt } = Promise.withResolvers<void>();
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: 'first ' }, '1-0'));
        // The end comes only after the beginning was read at the other end.
        void seen.then(() => response.end(event('end', { status: 'completed' })));
      },
      [RECORD]: (response) => answer(response, 200, record({ output: 'first ' })),
    });
    const { child, ended } = startMuster(['send', 'Hello'], { env: { MUSTER_URL: api.url, MUSTER_API_KEY: 'k' } });

    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('first ');
    sawIt();

    expect((await ended).code).toBe(0);
  });

  it('says why the task does not start yet, once for each reason', { timeout: PROCESS_MS }, async () => {
    const asked: string[] = [];
    const { promise: saidTwice, resolve: sayTwice } = Promise.withResolvers<void>();
    api = await startFakeApi({
      [`GET /v1/tasks/${TASK_ID}/why`]: (response) => {
        asked.push('why');
        if (asked.length === 2) sayTwice();
        answer(response, 200, { status: 'queued', reasons: [{ gate: 'paused', detail: 'queue "tasks" is paused' }] });
      },
      [STREAM]: (response) => {
        openStream(response);
        void saidTwice.then(() => response.end(event('status', { status: 'running' }) + event('end', { status: 'completed' })));
      },
    });

    const result = await muster(['send', 'Hello']);

    expect(result.code).toBe(0);
    expect(result.stderr).toBe(`task ${TASK_ID}\nIt waits: queue "tasks" is paused.\ncompleted in 1.5 s\n`);
  });

  it('does not repeat that a failed task is retried within seconds, but says when that takes longer', { timeout: PROCESS_MS }, async () => {
    const untils: number[] = [];
    const { promise: saidTwice, resolve: sayTwice } = Promise.withResolvers<void>();
    api = await startFakeApi({
      [`GET /v1/tasks/${TASK_ID}/why`]: (response) => {
        untils.push(untils.length === 0 ? 2000 : 90_000);
        if (untils.length === 3) sayTwice();
        const until = new Date(Date.now() + untils.at(-1)!).toISOString();
        const detail = `retry ${untils.length > 1 ? 'much ' : ''}later`;
        answer(response, 200, { status: 'failed', reasons: [{ gate: 'retry', detail, until }] });
      },
      [STREAM]: (response) => {
        openStream(response);
        void saidTwice.then(() => response.end(event('status', { status: 'running' }) + event('end', { status: 'completed' })));
      },
    });

    const result = await muster(['send', 'Hello']);

    expect(result.code).toBe(0);
    const shown = result.stderr.replace(/; .+ to go/, '; some time to go');
    expect(shown).toBe(`task ${TASK_ID}\nIt waits: retry much later; some time to go.\ncompleted in 1.5 s\n`);
  });

  it('continues a cut stream after the last event that it received', async () => {
    api = await startFakeApi({
      [STREAM]: (response, request) => {
        openStream(response);
        if (request.headers['last-event-id'] === undefined) {
          response.write(event('output', { attempt: 1, seq: 1, text: 'Hello ' }, '7-1'), () => response.destroy());
          return;
        }
        response.write(event('output', { attempt: 1, seq: 2, text: 'you' }, '7-2'));
        response.end(event('end', { status: 'completed' }));
      },
    });

    const result = await muster(['send', 'Hello']);

    expect(result).toMatchObject({ code: 0, stdout: 'Hello you\n' });
    expect(api.requests.filter(({ path }) => path.endsWith('/stream')).map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      '7-1',
    ]);
  });

  it('repeats the request under the same key when the answer was lost', async () => {
    let posts = 0;
    api = await startFakeApi({
      'POST /v1/tasks': (response) => {
        posts += 1;
        if (posts === 1) response.destroy();
        else answer(response, 200, { id: TASK_ID, status: 'queued', position: 0 });
      },
    });

    const result = await muster(['send', 'Hello']);

    expect(result).toMatchObject({ code: 0, stdout: 'Hello you\n' });
    const keys = api.requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it('marks where each attempt begins, and that it is a retry', async () => {
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: 'Hel' }, '1-0'));
        response.write(event('status', { status: 'failed' }));
        response.write(event('output', { attempt: 2, seq: 1, text: 'Hello you' }, '2-0'));
        response.end(event('end', { status: 'completed' }));
      },
      [RECORD]: (response) => answer(response, 200, record({ attempt: 2 })),
    });

    const result = await muster(['send', 'Hello']);

    expect(result.stdout).toBe('Hel\nHello you\n');
    expect(result.stderr).toContain('failed, will be retried\nattempt 2 starts again\ncompleted, attempt 2 in 1.5 s\n');
  });

  it('shows why an attempt failed, and at the end how to retry the task', async () => {
    const attempt = { worker: 'w-1', startedAt: '2026-05-01T10:00:00.000Z', endedAt: '2026-05-01T10:00:01.000Z', status: 'failed' };
    const error = { code: 'NETWORK_ERROR', message: 'The model does not answer' };
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('status', { status: 'failed' }));
        response.end(event('end', { status: 'permanently_failed' }));
      },
      [`${RECORD}/attempts`]: (response) => answer(response, 200, { items: [{ ...attempt, number: 1, error }] }),
      [RECORD]: (response) => answer(response, 200, record({ status: 'permanently_failed', attempt: 2, error, output: null })),
    });

    const result = await muster(['send', 'Hello']);

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('failed, will be retried: The model does not answer [NETWORK_ERROR]\n');
    expect(result.stderr).toMatch(new RegExp(`\\nRetry it with npx muster retry ${TASK_ID}\\n$`));
  });

  it('keeps the output of an attempt that was handed over and runs again under its number', async () => {
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: 'Hello ' }, '1-0'));
        response.write(event('output', { attempt: 1, seq: 1, text: 'Hello you' }, '2-0'));
        response.end(event('end', { status: 'completed' }));
      },
    });

    expect((await muster(['send', 'Hello'])).stdout).toBe('Hello \nHello you\n');
  });

  it('adds output that is in the record only', async () => {
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: 'Hello' }, '1-0'));
        response.end(event('end', { status: 'completed' }));
      },
    });

    expect((await muster(['send', 'Hello'])).stdout).toBe('Hello you\n');
  });

  it.each([
    { streamed: 'Repo has a.\n\n', output: 'Repo has a.', stdout: 'Repo has a.\n\n' },
    { streamed: 'I look.\n\nRepo has a.\n\n', output: 'Repo has a.', stdout: 'I look.\n\nRepo has a.\n\n' },
    { streamed: 'I look.\n\n', output: 'I look.\n\nRepo has a.', stdout: 'I look.\n\nRepo has a.\n' },
    { streamed: 'I look.\n\n', output: 'I look. Repo has a.', stdout: 'I look.\n\nRepo has a.\n' },
    { streamed: 'Data', output: 'a', stdout: 'Data\na\n' },
  ])('writes an answer once, of which $streamed was streamed and $output is recorded', async ({ streamed, output, stdout }) => {
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: streamed }, '1-0'));
        response.end(event('end', { status: 'completed' }));
      },
      [RECORD]: (response) => answer(response, 200, record({ output })),
    });

    expect((await muster(['send', 'Hello'])).stdout).toBe(stdout);
  });

  it('ends with 1 and the reason when the task failed', async () => {
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.end(event('end', { status: 'permanently_failed' }));
      },
      [RECORD]: (response) =>
        answer(
          response,
          200,
          record({ status: 'permanently_failed', output: null, error: { code: 'INVALID_INPUT', message: 'No such thing' } }),
        ),
    });

    const result = await muster(['send', 'Hello']);

    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('permanently_failed in 1.5 s\nNo such thing [INVALID_INPUT]\n');
  });

  it('ends with 0 and names the other task when the message went into that one', async () => {
    const outcome = { kind: 'steered', taskId: 'T2', reason: null };
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.end(event('end', { status: 'skipped' }));
      },
      [RECORD]: (response) => answer(response, 200, record({ status: 'skipped', output: null, outcome })),
    });

    const result = await muster(['send', 'Hello', '--session', 'demo', '--mode', 'steer']);

    expect(result).toMatchObject({ code: 0, stdout: '' });
    expect(result.stderr).toContain('It went into task T2: npx muster task T2\n');
  });

  it('prints only the record with --json', async () => {
    api = await startFakeApi();

    const result = await muster(['send', 'Hello', '--json']);

    expect(JSON.parse(result.stdout)).toEqual(record());
    expect(result.stderr).toBe('');
  });

  it('prints only the id with --no-wait', async () => {
    api = await startFakeApi();

    const result = await muster(['send', 'Hello', '--no-wait']);

    expect(result).toMatchObject({ code: 0, stdout: `${TASK_ID}\n` });
    expect(api.requests).toHaveLength(1);
  });

  it('reads the text from standard input for "-"', async () => {
    api = await startFakeApi();

    await muster(['send', '-'], { input: 'from a pipe' });

    expect(JSON.parse(api.requests[0]?.body ?? '')).toMatchObject({ input: 'from a pipe' });
  });

  it('ends with 2 and the message of the server, without a stack, when the server refuses', async () => {
    api = await startFakeApi({
      'POST /v1/tasks': (response) => answer(response, 422, { code: 'agent.unknown', detail: 'There is no agent "nobody"' }),
    });

    const result = await muster(['send', 'Hello', '--agent', 'nobody']);

    expect(result).toEqual({ code: 2, stdout: '', stderr: 'muster: There is no agent "nobody" [agent.unknown]\n' });
  });

  it('lists the known agents when the named one does not exist, and what the shipped one needs', async () => {
    api = await startFakeApi({
      'POST /v1/tasks': (response) => answer(response, 422, { code: 'agent.unknown', detail: 'There is no agent "assistant"' }),
      'GET /v1/agents': (response) => answer(response, 200, { items: [{ id: 'echo' }, { id: 'word-count' }], nextCursor: null }),
    });

    const result = await muster(['send', 'Hello', '--agent', 'assistant']);

    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(
      /^muster: There is no agent "assistant" \[agent\.unknown\]\nKnown agents: echo, word-count\nThis one exists when/,
    );
  });

  it('shows when to try again after a 429', async () => {
    api = await startFakeApi({
      'POST /v1/tasks': (response) =>
        answer(response, 429, { code: 'limit.waiting', detail: 'Too much is waiting' }, { 'Retry-After': '7' }),
    });

    expect(await muster(['send', 'Hello'])).toMatchObject({
      code: 1,
      stderr: 'muster: Too much is waiting. Try again in 7 s. [limit.waiting]\n',
    });
  });

  it('leaves the task running on Ctrl-C, and shows how to find it again', { timeout: PROCESS_MS }, async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: 'Hel' }, '1-0'));
        open();
      },
    });
    const { child, ended } = startMuster(['send', 'Hello'], { env: { MUSTER_URL: api.url, MUSTER_API_KEY: 'k' } });
    await Promise.all([opened, once(child.stdout!, 'data')]);
    child.kill('SIGINT');

    const result = await ended;

    expect(result).toMatchObject({ code: 130, stdout: 'Hel\n' });
    expect(result.stderr).toContain(`npx muster cancel ${TASK_ID}`);
    expect(api.requests.map(({ path }) => path)).not.toContain(`/v1/tasks/${TASK_ID}/cancel`);
  });

  it('runs on the Node of the repository when it is started by one that is too old', { timeout: PROCESS_MS }, async () => {
    api = await startFakeApi();
    const asIfOld = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.1.0' })";

    const env = { MUSTER_URL: api.url, MUSTER_API_KEY: 'k' };
    const { ended } = startMuster(['send', 'Hello'], { env, nodeArgs: ['--import', asIfOld] });
    expect(await ended).toMatchObject({ code: 0, stdout: 'Hello you\n' });
  });
});
