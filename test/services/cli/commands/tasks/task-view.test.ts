import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../../support/fake-http-endpoint.ts';
import { answer, record, startFakeApi, TASK_ID } from '../../fake-api.ts';
import { runMuster, type MusterResult } from '../../run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const NEIGHBOUR = '01JQZX5M8Q0000000000000000';

async function cancel(prefix: string, ids: readonly string[]): Promise<MusterResult> {
  api = await startFakeApi({
    'GET /v1/tasks': (response) => answer(response, 200, { items: ids.map((id) => record({ id })), nextCursor: null }),
    [`POST /v1/tasks/${TASK_ID}/cancel`]: (response) => answer(response, 202, { id: TASK_ID, status: 'cancelled' }),
  });
  return runMuster(['cancel', prefix], { env: { MUSTER_URL: api.url, MUSTER_API_KEY: 'a-key' } });
}

describe("the beginning of a task's id", () => {
  it('completes to the only task that has it, in any letter case', async () => {
    const result = await cancel('01jqzx5m8q2', [TASK_ID, NEIGHBOUR]);

    expect(result).toMatchObject({ code: 0, stdout: 'The task is cancelled.\n' });
    expect(api?.requests.map(({ path }) => path)).toEqual([
      '/v1/tasks?cursor=01JQZX5M8Q2ZZZZZZZZZZZZZZZ&limit=9',
      `/v1/tasks/${TASK_ID}/cancel`,
    ]);
  });

  it('lists the candidates when several tasks have it, and changes none', async () => {
    const result = await cancel('01JQZX5M8Q', [TASK_ID, NEIGHBOUR]);

    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`[task.ambiguous]\n  ${TASK_ID}  completed  Hello\n  ${NEIGHBOUR}  completed  Hello\n`);
    expect(api?.requests).toHaveLength(1);
  });

  it('is refused when no task has it', async () => {
    expect(await cancel('02', [])).toMatchObject({ code: 1, stderr: expect.stringContaining('[task.not-found]') });
  });
});
