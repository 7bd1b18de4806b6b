import { afterEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../services/cli/api-client.ts';
import { followTask } from '../../../services/cli/follow-task.ts';
import type { FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { answer, event, openStream, startFakeApi, TASK_ID } from './fake-api.ts';

let server: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const STREAM = `GET /v1/tasks/${TASK_ID}/stream`;
const nothing = (): void => undefined;

function follow(limits: { patienceMs?: number; quietMs?: number; pauseMs?: number }): Promise<string> {
  const api = new ApiClient({ url: server?.url ?? '', key: 'k' });
  return followTask({ api, taskId: TASK_ID, onOutput: nothing, onStatus: nothing, ...limits });
}

describe('following a task', () => {
  it('opens a stream again that went quiet, as behind a dead connection', async () => {
    let opened = 0;
    server = await startFakeApi({
      [STREAM]: (response) => {
        opened += 1;
        openStream(response);
        if (opened === 1) response.write(':\n\n');
        else response.end(event('end', { status: 'completed' }));
      },
    });

    expect(await follow({ quietMs: 100, pauseMs: 1 })).toBe('completed');
    expect(opened).toBe(2);
  });

  it('gives up when the server is away for longer than its patience', async () => {
    server = await startFakeApi({
      [STREAM]: (response) => answer(response, 503, { code: 'unavailable.redis', detail: 'Redis does not answer' }),
    });

    await expect(follow({ patienceMs: 100, pauseMs: 10 })).rejects.toMatchObject({ code: 'unavailable.redis', exitCode: 3 });
    expect(server.requests.length).toBeGreaterThan(2);
  });

  it('asks once only when the server refuses', async () => {
    server = await startFakeApi({
      [STREAM]: (response) => answer(response, 404, { code: 'task.not-found', detail: 'There is no such task' }),
    });

    await expect(follow({ pauseMs: 1 })).rejects.toMatchObject({ code: 'task.not-found', exitCode: 1 });
    expect(server.requests).toHaveLength(1);
  });
});
