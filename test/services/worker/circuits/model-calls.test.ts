import { generateText } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { Task } from '#shared/tasks/task.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { awaitEnd } from '../../../support/agents/await-task.ts';
import { answerCompletion } from '../../../support/agents/chat-completion.ts';

let isBroken = true;
let hangs = false;
const endpoint = await startFakeHttpEndpoint((response) => {
  if (hangs) return;
  if (isBroken) response.writeHead(503).end('{"error":{"message":"out of order"}}');
  else answerCompletion(response);
});
afterAll(() => endpoint.close());

const asks: AgentFunction = async ({ input }, { model }) => (await generateText({ model: model(), prompt: input })).text;
const wastes: AgentFunction = async ({ input }, { model }) => {
  await generateText({ model: model('small'), prompt: input });
  throw new Error('forgot the answer');
};

const { url } = await useRedis();
const parts = closeAfterTests(
  await openTestParts({
    redisUrl: url,
    env: { OPENAI_BASE_URL: `${endpoint.url}/v1`, OPENAI_MODEL: 'large' },
    settings: {
      agents: {
        asks: { kind: 'function', run: asks, retryDelayMs: 1 },
        wastes: { kind: 'function', run: wastes },
        waits: { kind: 'function', run: asks, retryDelayMs: 1 },
      },
      circuits: { failures: 3, silenceMs: 10, openMs: 200, maxOpenMs: 200, checkMs: 20 },
    },
  }),
);
await useWorker(parts);

const submit = async (agent: string, maxAttempts = 3, timeoutMs = 60_000): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent, input: 'hello', execution: { maxAttempts, timeoutMs } })).id;

const ended = (id: string): Promise<Task> => awaitEnd(parts, id);

const eventsOf = async (kind: string): Promise<number> =>
  (await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+')).filter(([, fields]) => fields.includes(kind)).length;

describe('a circuit', () => {
  it('holds the tasks of an agent whose endpoint fails, tries it with one call at a time, and lets all go on once it answers', async () => {
    const breaks = await submit('asks');
    expect((await ended(breaks)).state.error?.code).toBe('PROVIDER_ERROR');
    expect(endpoint.requests).toHaveLength(3);
    const ids = await Promise.all(Array.from({ length: 6 }, () => submit('asks')));
    const held = await waitFor(
      async () => {
        const tasks = await Promise.all(ids.map((id) => readTask(parts.ledger, 'default', id)));
        return tasks.filter((task) => task?.state.hold?.gate === 'circuit').length >= 5 ? tasks : null;
      },
      { deadlineMs: 10_000, what: 'the tasks to be held' },
    );
    expect(held.every((task) => (task?.state.spent ?? 9) <= 1)).toBe(true);
    const before = endpoint.requests.length;
    await waitFor(() => endpoint.requests.length > before + 1, { deadlineMs: 10_000, what: 'two calls that try the endpoint' });
    // One at a time: six tasks would have called it as often in each of these rounds.
    expect(endpoint.requests.length - before).toBeLessThan(6);
    isBroken = false;
    for (const id of ids)
      expect((await ended(id)).state).toMatchObject({ status: 'completed', usage: { inputTokens: 7, outputTokens: 3 } });
    expect(await eventsOf('circuit.opened')).toBe(1);
    await waitFor(async () => (await eventsOf('circuit.closed')) === 1, { deadlineMs: 5000, what: 'the circuit to close' });
  });
});

describe('the circuit of an endpoint that hangs', () => {
  it('opens when the timeouts of attempts have ended enough calls', async () => {
    hangs = true;
    const { state } = await ended(await submit('waits', 3, 800));
    hangs = false;
    expect(state.error?.code).toBe('EXECUTION_TIMEOUT');
    const stored = await parts.redis.hgetall(parts.keys.tenant('default').circuits);
    const [, circuit = '{}'] = Object.entries(stored).find(([name]) => name.startsWith('waits ')) ?? [];
    expect(JSON.parse(circuit)).toMatchObject({
      failures: 3,
      openedAt: expect.any(Number),
      reason: expect.stringMatching(/^nothing came for \d+ ms$/),
    });
  });
});

describe('a model from the context', () => {
  it('is the default one, or the named one, and what it used counts also when the attempt fails', async () => {
    isBroken = false;
    const { state } = await ended(await submit('wastes', 1));
    expect(state).toMatchObject({ status: 'permanently_failed', usage: { inputTokens: 7, outputTokens: 3, costMicroUsd: null } });
    expect(JSON.parse(endpoint.requests.at(-1)?.body ?? '')).toMatchObject({ model: 'small' });
    await ended(await submit('asks'));
    expect(JSON.parse(endpoint.requests.at(-1)?.body ?? '')).toMatchObject({ model: 'large' });
  });
});
