import { afterAll, describe, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { awaitEnd } from '../../../support/agents/await-task.ts';

let status = 503;
let [running, maxRunning] = [0, 0];
const endpoint = await startFakeHttpEndpoint((response) => {
  running += 1;
  maxRunning = Math.max(maxRunning, running);
  setTimeout(() => {
    running -= 1;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"output":"hello"}');
  }, 20);
});
afterAll(() => endpoint.close());
const refusing = await startFakeHttpEndpoint(() => undefined);
await refusing.close();

const { url } = await useRedis();
const agent = { kind: 'http', retryDelayMs: 1 } as const;
const parts = closeAfterTests(
  await openTestParts({
    redisUrl: url,
    settings: {
      agents: {
        triage: { ...agent, url: `${endpoint.url}/triage` },
        review: { ...agent, url: `${endpoint.url}/review` },
        gone: { ...agent, url: refusing.url },
      },
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      circuits: { failures: 3, openMs: 200, maxOpenMs: 200, checkMs: 20 },
    },
  }),
);
await useWorker(parts);

const submit = async (name: string, maxAttempts = 3): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: name, input: 'hello', execution: { maxAttempts } })).id;

const eventsOf = async (kind: string): Promise<number> =>
  (await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+')).filter(([, fields]) => fields.includes(kind)).length;

/** Waits until the circuit holds so many of these. */
async function awaitHeld(ids: readonly string[], count: number): Promise<string[]> {
  const held = async (): Promise<string[]> => {
    const tasks = await Promise.all(ids.map((id) => readTask(parts.ledger, 'default', id)));
    return ids.filter((_id, at) => tasks[at]?.state.hold?.gate === 'circuit');
  };
  const isHeld = async (): Promise<string[] | null> => {
    const found = await held();
    return found.length >= count ? found : null;
  };
  return await waitFor(isHeld, { deadlineMs: 20_000, what: `${count} tasks to be held` });
}

describe('the circuit of an http agent', () => {
  it('holds its tasks while its endpoint fails, lets one at a time try, and spends no attempt of theirs', async () => {
    const { state } = await awaitEnd(parts, await submit('triage'));
    expect(state).toMatchObject({ status: 'permanently_failed', spent: 3, error: { code: 'PROVIDER_ERROR' } });
    expect(endpoint.requests).toHaveLength(3);
    maxRunning = 0;
    const ids = await Promise.all(Array.from({ length: 6 }, () => submit('triage', 1)));
    await awaitHeld(ids, 5);
    const reasons = async (): Promise<unknown[]> => {
      const tasks = await Promise.all(ids.map((id) => readTask(parts.ledger, 'default', id)));
      const explained = await Promise.all(tasks.flatMap((task) => (task ? [explainWait(parts, task)] : [])));
      return explained.flatMap((why) => why.reasons).filter(({ gate }) => gate === 'circuit');
    };
    expect(await reasons()).toContainEqual(expect.objectContaining({ detail: expect.stringContaining('failed') }));
    await waitFor(() => endpoint.requests.length >= 6, { deadlineMs: 20_000, what: 'three requests that try the endpoint' });
    expect(maxRunning).toBe(1);
    status = 200;
    for (const id of ids) expect(await awaitEnd(parts, id)).toMatchObject({ state: { status: 'completed', spent: 1 }, output: 'hello' });
    expect(await eventsOf('circuit.opened')).toBe(1);
    await waitFor(async () => (await eventsOf('circuit.closed')) === 1, { deadlineMs: 5000, what: 'the circuit to close' });
  });

  it('stays closed under answers of 4xx', async () => {
    status = 409;
    const before = endpoint.requests.length;
    const ended = await Promise.all((await Promise.all([submit('review'), submit('review')])).map((id) => awaitEnd(parts, id)));
    expect(ended.map((task) => task.state.spent)).toEqual([3, 3]);
    expect(endpoint.requests.length - before).toBe(6);
  });

  it('opens when the connection is refused', async () => {
    expect((await awaitEnd(parts, await submit('gone'))).state.error?.code).toBe('NETWORK_ERROR');
    await awaitHeld([await submit('gone')], 1);
    expect(await parts.redis.hkeys(parts.keys.tenant('default').circuits)).toContain(`gone ${refusing.url}`);
  });
});
