import { generateText } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { awaitEnd } from '../../../support/agents/await-task.ts';
import { answerCompletion } from '../../../support/agents/chat-completion.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';

let status = 503;
const endpoint = await startFakeHttpEndpoint((response) => {
  if (status === 200) answerCompletion(response);
  else response.writeHead(status).end('{"error":{"message":"out of order"}}');
});
afterAll(() => endpoint.close());

const asks: AgentFunction = async ({ input }, { model }) => (await generateText({ model: model(), prompt: input })).text;

const HOUR_MS = 3_600_000;
const { url } = await useRedis();
const parts = closeAfterTests(
  await openTestParts({
    redisUrl: url,
    env: { OPENAI_BASE_URL: `${endpoint.url}/v1`, OPENAI_MODEL: 'large' },
    settings: {
      agents: { asks: { kind: 'function', run: asks, retryDelayMs: 1 }, pays: { kind: 'function', run: asks, retryDelayMs: 1 } },
      circuits: { failures: 1, openMs: HOUR_MS, maxOpenMs: HOUR_MS, probeMs: HOUR_MS },
      throttle: { probeMs: HOUR_MS, maxProbeMs: HOUR_MS },
    },
  }),
);
await useWorker(parts);

async function heldTask(agent: string, gate: string): Promise<string> {
  const { id } = await acceptTask(parts, { tenant: 'default', agent, input: 'hello' });
  await becomesHeld(id, gate, 0);
  return id;
}

/** Held after more attempts than these. */
async function becomesHeld(id: string, gate: string, token: number): Promise<void> {
  const isHeld = async (): Promise<boolean> => {
    const state = (await readTask(parts.ledger, 'default', id))?.state;
    return state?.hold?.gate === gate && state.token > token;
  };
  await waitFor(isHeld, { deadlineMs: 10_000, what: `the task to be held by ${gate}` });
}

async function timelineOf(id: string): Promise<string[]> {
  const log = (await readTask(parts.ledger, 'default', id))?.state.log ?? '';
  return log.split(';').map((entry) => entry.split('@')[0] ?? '');
}

async function retry(id: string): Promise<number> {
  const before = (await readTask(parts.ledger, 'default', id))?.state.token ?? 0;
  expect(await retryTask(parts, 'default', id)).toMatchObject({ kind: 'reopened' });
  return before;
}

describe.each([
  { gate: 'circuit', agent: 'asks', refusal: 503 },
  { gate: 'provider', agent: 'pays', refusal: 402 },
])('a retry by hand of a task that waits at the gate $gate', ({ gate, agent, refusal }) => {
  it('makes one call at once, and another task still waits', async () => {
    status = refusal;
    const id = await heldTask(agent, gate);
    const other = await heldTask(agent, gate);
    for (let round = 0; round < 2; round += 1) {
      const calls = endpoint.requests.length;
      const timeline = await timelineOf(id);
      await becomesHeld(id, gate, await retry(id));
      expect(endpoint.requests).toHaveLength(calls + 1);
      // What came of it is read there, although it is the same again.
      expect((await timelineOf(id)).slice(timeline.length)).toEqual(['scheduled', 'running', 'queued']);
    }
    status = 200;
    await retry(id);
    expect((await awaitEnd(parts, id)).state).toMatchObject({ status: 'completed' });
    expect((await awaitEnd(parts, other)).state.status).toBe('completed');
  });
});
