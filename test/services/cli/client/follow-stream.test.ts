import { afterEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../../services/cli/client/api-client.ts';
import { followTask, type StreamLimits } from '../../../../services/cli/client/follow-stream.ts';
import type { FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { answer, event, openStream, startFakeApi, TASK_ID } from '../fake-api.ts';

let server: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const STREAM = `GET /v1/tasks/${TASK_ID}/stream`;
const nothing = (): void => undefined;

function follow(limits: StreamLimits): Promise<string> {
  const api = new ApiClient({ url: server?.url ?? '', key: 'k' });
  return followTask({ api, taskId: TASK_ID, onOutput: nothing, onStatus: nothing, ...limits });
}

describe('following a task', () => {
  it('opens a quiet stream again, as behind a dead connection', async () => {
    let opened = 0;
    server = await startFakeApi({
      [STREAM]: (response) => {
        opened += 1;
        openStream(response);
        // A slow machine may take the second connection for a quiet one, too; it is opened again then.
        if (opened === 1) response.write(':\n\n');
        else response.end(event('end', { status: 'completed' }));
      },
    });

    expect(await follow({ quietMs: 100, pauseMs: 1 })).toBe('completed');
    expect(opened).toBeGreaterThan(1);
  });

  it('gives up when the server is away for longer than its patience', async () => {
    let now = 0;
    server = await startFakeApi({
      [STREAM]: (response) => {
        now += 40;
        answer(response, 503, { code: 'unavailable.redis', detail: 'Redis does not answer' });
      },
    });

    const given = follow({ patienceMs: 100, pauseMs: 1, clock: { monotonic: () => now } });
    await expect(given).rejects.toMatchObject({ code: 'unavailable.redis', exitCode: 3 });
    expect(server.requests).toHaveLength(3);
  });

  it('does not retry when the server refuses', async () => {
    server = await startFakeApi({
      [STREAM]: (response) => answer(response, 404, { code: 'task.not-found', detail: 'There is no such task' }),
    });

    await expect(follow({ pauseMs: 1 })).rejects.toMatchObject({ code: 'task.not-found', exitCode: 1 });
    expect(server.requests).toHaveLength(1);
  });
});
