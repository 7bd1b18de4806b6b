import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { answer, event, openStream, record, startFakeApi, TASK_ID } from './fake-api.ts';
import { runMuster, startMuster, type MusterResult } from './run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const STREAM = `GET /v1/tasks/${TASK_ID}/stream`;
const RECORD = `GET /v1/tasks/${TASK_ID}`;

/** With an address and a key, as most commands are run. */
function muster(args: string[], extra: { input?: string; nodeArgs?: string[] } = {}): Promise<MusterResult> {
  return runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' }, ...extra });
}

describe('muster send', () => {
  it('sends what was typed under a key of its own, and ends with 0 when the task completed', async () => {
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

  it('writes the output as it comes, not when the task has ended', async () => {
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

  it('takes a cut stream up after the last event that it saw', async () => {
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

  it('asks again under the same key when the reply was lost', async () => {
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

  it('says where each attempt begins, and that one was tried again', async () => {
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
    expect(result.stderr).toContain('failed, will be tried again\nattempt 2 begins anew\ncompleted, attempt 2 in 1.5 s\n');
  });

  it('says why an attempt failed, and at the end how to open the task again', async () => {
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
    expect(result.stderr).toContain('failed, will be tried again: The model does not answer [NETWORK_ERROR]\n');
    expect(result.stderr).toMatch(new RegExp(`\\nOpen it again with npx muster retry ${TASK_ID}\\n$`));
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

  it('adds from the record what the stream had not', async () => {
    api = await startFakeApi({
      [STREAM]: (response) => {
        openStream(response);
        response.write(event('output', { attempt: 1, seq: 1, text: 'Hello' }, '1-0'));
        response.end(event('end', { status: 'completed' }));
      },
    });

    expect((await muster(['send', 'Hello'])).stdout).toBe('Hello you\n');
  });

  it('ends with 1 when the task failed, and says why', async () => {
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

  it('ends with 0 when the message went into another task, and names that', async () => {
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

  it('prints nothing but the record as JSON when asked to', async () => {
    api = await startFakeApi();

    const result = await muster(['send', 'Hello', '--json']);

    expect(JSON.parse(result.stdout)).toEqual(record());
    expect(result.stderr).toBe('');
  });

  it('prints the id alone and leaves when told not to wait', async () => {
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

  it('ends with 2 and the words of the server, without a stack, when the server refuses', async () => {
    api = await startFakeApi({
      'POST /v1/tasks': (response) => answer(response, 422, { code: 'agent.unknown', detail: 'There is no agent "nobody"' }),
    });

    const result = await muster(['send', 'Hello', '--agent', 'nobody']);

    expect(result).toEqual({ code: 2, stdout: '', stderr: 'muster: There is no agent "nobody" [agent.unknown]\n' });
  });

  it('names the agents that there are when there is no such one, and what the one that ships needs', async () => {
    api = await startFakeApi({
      'POST /v1/tasks': (response) => answer(response, 422, { code: 'agent.unknown', detail: 'There is no agent "assistant"' }),
      'GET /v1/agents': (response) => answer(response, 200, { items: [{ id: 'echo' }, { id: 'word-count' }], nextCursor: null }),
    });

    const result = await muster(['send', 'Hello', '--agent', 'assistant']);

    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(
      /^muster: There is no agent "assistant" \[agent\.unknown\]\nThere are: echo, word-count\nThis one is there when/,
    );
  });

  it('says when to try again when there is too much', async () => {
    api = await startFakeApi({
      'POST /v1/tasks': (response) =>
        answer(response, 429, { code: 'limit.waiting', detail: 'Too much is waiting' }, { 'Retry-After': '7' }),
    });

    expect(await muster(['send', 'Hello'])).toMatchObject({
      code: 1,
      stderr: 'muster: Too much is waiting. Try again in 7 s. [limit.waiting]\n',
    });
  });

  it('leaves the task running on Ctrl-C and says how to get back to it', async () => {
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

  it('runs on the Node of the repository when started by one that is too old', async () => {
    api = await startFakeApi();
    const asIfOld = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.1.0' })";

    expect(await muster(['send', 'Hello'], { nodeArgs: ['--import', asIfOld] })).toMatchObject({ code: 0, stdout: 'Hello you\n' });
  });
});
