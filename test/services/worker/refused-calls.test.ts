import type { ServerResponse } from 'node:http';
import { generateText } from 'ai';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { Task } from '#shared/tasks/task.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { useWorker } from '../../support/use-worker.ts';
import { awaitEnd, awaitTask } from '../../support/agents/await-task.ts';
import { answerCompletion } from '../../support/agents/chat-completion.ts';

type Respond = (response: ServerResponse) => void;

const answer: Respond = (response) => answerCompletion(response);

const refuse =
  (status: number, code: string, ms = 400): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': `${ms}` });
    response.end(JSON.stringify({ error: { message: 'not now', code } }));
  };

const tooLarge: Respond = (response) => {
  response.writeHead(429, { 'content-type': 'application/json' });
  response.end('{"error":{"message":"Request too large for large on tokens per min","code":"rate_limit_exceeded","type":"tokens"}}');
};

let responses: Respond[] = [];
const provider = await startFakeHttpEndpoint((response) => (responses.shift() ?? answer)(response));
afterAll(() => provider.close());

/** The prompts of the calls that reached the provider. */
const prompts = (): string[] =>
  provider.requests.map(({ body }) => (JSON.parse(body) as { messages: { content: string }[] }).messages.at(-1)?.content ?? '');

const callTwice: AgentFunction = async ({ input }, { model }) => {
  for (const step of ['first', 'second']) await generateText({ model: model(), prompt: `${input} ${step}`, maxRetries: 0 });
  return 'done';
};

const baseUrl = `${provider.url}/v1`;
const { url } = await useRedis();
const parts = closeAfterTests(
  await openTestParts({
    redisUrl: url,
    env: { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: 'large' },
    settings: {
      agents: {
        twice: { kind: 'function', run: callTwice },
        other: {
          kind: 'function',
          run: async ({ input }, { model }) => (await generateText({ model: model('other'), prompt: input })).text,
        },
        stops: { kind: 'function', run: callTwice, retries: { THROTTLED: 'stop' } },
      },
      // The rate is known, so that no refusal lets the fleet guess one.
      providers: { local: { baseUrl, concurrent: 1, requestsPerMinute: 6000 } },
      throttle: { pumpMs: 20, horizonMs: 50 },
    },
  }),
);
await useWorker(parts);

beforeEach(() => {
  provider.requests.length = 0;
  responses = [];
});

const submit = async (input: string, agent = 'twice'): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent, input, execution: { maxAttempts: 1 } })).id;

const ended = (id: string): Promise<Task> => awaitEnd(parts, id);
const held = (id: string): Promise<Task> => awaitTask(parts, { id }, ({ state }) => state.hold !== undefined, `${id} to be held`);

describe('a task whose call is refused', () => {
  it.each([
    { name: 'by a rate', refusal: refuse(429, 'rate_limit_exceeded'), code: 'THROTTLED' },
    { name: 'by an endpoint with too much work', refusal: refuse(529, 'overloaded_error'), code: 'THROTTLED' },
    { name: 'by a wall', refusal: refuse(402, 'insufficient_quota'), code: 'PROVIDER_QUOTA' },
  ])('$name waits for the provider, spends no attempt, and goes on, at its first call and at a later one', async ({ refusal, code }) => {
    for (const before of [[], [answer]]) {
      responses = [...before, refusal];
      const id = await submit(`task ${before.length}`);
      const task = await ended(id);
      expect(task.state).toMatchObject({ status: 'completed', attempt: 1, holds: 1 });
      expect(task.attempts.map(({ status, error }) => [status, error?.code])).toEqual([
        ['interrupted', code],
        ['success', undefined],
      ]);
    }
  });

  it('keeps its place before tasks that came later', async () => {
    responses = [refuse(429, 'rate_limit_exceeded')];
    const early = await submit('early');
    await held(early);
    const late = await submit('late');
    await Promise.all([ended(early), ended(late)]);
    expect(prompts().slice(0, 2)).toEqual(['early first', 'early first']);
  });

  it('says in its reasons what refuses, and until when, and has spent nothing', async () => {
    responses = [refuse(429, 'rate_limit_exceeded', 600_000)];
    const waiting = await held(await submit('waits', 'other'));
    expect(waiting.state).toMatchObject({ hold: { gate: 'provider' }, spent: 0 });
    const { reasons } = await explainWait(parts, waiting);
    expect(reasons[0]).toMatchObject({
      gate: 'provider',
      detail: expect.stringMatching(/^the model other of local takes no calls until .* UTC/),
    });
    expect((reasons[0]?.until ?? 0) - Date.now()).toBeGreaterThan(300_000);
  });

  it('follows the routes of its agent first', async () => {
    responses = [refuse(429, 'rate_limit_exceeded')];
    const task = await ended(await submit('stop', 'stops'));
    expect(task.state).toMatchObject({ status: 'permanently_failed', error: { code: 'THROTTLED' } });
  });

  it('fails by itself when it is larger than a minute of the provider, and stops no others', async () => {
    responses = [tooLarge];
    await ended(await submit('large', 'stops'));
    expect((await ended(await submit('small'))).state).toMatchObject({ status: 'completed' });
    expect(provider.requests).toHaveLength(3);
  });
});
