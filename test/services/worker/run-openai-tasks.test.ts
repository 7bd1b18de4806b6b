import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { cancelTask } from '#shared/ledger/change-task.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { Task } from '#shared/tasks/task.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { startFakeHttpEndpoint, type FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';

/** One answer of the provider, in the order of its requests. */
type Answer = (response: ServerResponse) => void;

const event = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;

const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(event({ role: 'assistant', content: 'Good ' }));
};

const complete: Answer = (response) => {
  begin(response);
  response.write(event({ content: 'morning' }));
  response.end(`${event({}, 'stop', { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })}data: [DONE]\n\n`);
};

const busy: Answer = (response) => {
  response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' });
  response.end('{"error":{"message":"slow down","type":"rate_limit"}}');
};

const cut: Answer = (response) => {
  begin(response);
  setImmediate(() => response.destroy());
};

let provider: FakeHttpEndpoint;
let parts: Parts;
let worker: Service;
let answers: Answer[] = [];

const redis = await useRedis();

beforeEach(async () => {
  provider = await startFakeHttpEndpoint((response) => (answers.shift() ?? complete)(response));
  parts = await openTestParts({
    redisUrl: redis.url,
    settings: {
      agents: { model: { kind: 'openai', model: 'small', baseUrl: `${provider.url}/v1`, retryDelayMs: 20 } },
      models: { small: { inputUsdPerMTok: 1, outputUsdPerMTok: 2 } },
    },
  });
  worker = createWorkerService(parts);
  await worker.start();
});

afterEach(async () => {
  answers = [];
  await worker.stop(1000);
  await parts.close();
  await provider.close();
});

const submit = async (maxAttempts = 3): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'model', input: 'hello', execution: { maxAttempts } })).id;

const ended = (id: string): Promise<Task> => awaitEnd(parts, id);

const streamed = async (id: string): Promise<string[]> =>
  (await parts.redis.xrange(parts.keys.tenant('default').output(id), '-', '+')).map(([, fields]) => fields.join(' '));

describe('a task for a model', () => {
  it('streams, and records the answer and its tokens', async () => {
    const id = await submit();
    const task = await ended(id);
    expect(task.output).toBe('Good morning');
    expect(task.state.usage).toMatchObject({ inputTokens: 7, outputTokens: 3, costMicroUsd: 13, byModel: { small: { costMicroUsd: 13 } } });
    expect((await streamed(id)).join('|')).toContain('attempt 1 seq 1 text Good');
  });

  it('waits as long as the provider requests, and has not spent an attempt', async () => {
    answers = [busy];
    const asked = Date.now();
    const task = await ended(await submit(1));
    expect(task.state).toMatchObject({ status: 'completed', attempt: 1 });
    expect((task.state.startedAt ?? 0) - asked).toBeGreaterThanOrEqual(900);
    expect(task.attempts.map(({ status }) => status)).toEqual(['interrupted', 'success']);
  });

  it('tries again when the connection is cut in the middle of the answer, and keeps both streams apart', async () => {
    answers = [cut];
    const id = await submit();
    const task = await ended(id);
    expect(task.attempts.map(({ status, error }) => [status, error?.code])).toEqual([
      ['failed', 'NETWORK_ERROR'],
      ['success', undefined],
    ]);
    expect(task.output).toBe('Good morning');
    expect((await streamed(id)).map((entry) => entry.slice(0, 'attempt 1'.length))).toEqual(['attempt 1', 'attempt 2']);
  });

  it('hangs up on the provider when it is cancelled', async () => {
    let hungUp = false;
    let isAnswering = false;
    answers = [
      (response) => {
        begin(response);
        isAnswering = true;
        response.on('close', () => {
          hungUp = true;
        });
      },
    ];
    const id = await submit();
    await waitFor(() => isAnswering, { deadlineMs: 5000, what: 'the provider to answer' });
    await cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough');
    expect((await ended(id)).state.status).toBe('cancelled');
    await waitFor(() => hungUp, { deadlineMs: 5000, what: 'the connection to close' });
  });
});
