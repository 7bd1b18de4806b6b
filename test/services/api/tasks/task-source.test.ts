import { describe, expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { startApi } from '../support/start-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url));

const submit = (fields: object): Promise<Reply> => api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x', ...fields } });
const problemOf = async (fields: object): Promise<unknown[]> => {
  const { status, body } = await submit(fields);
  return [status, body.code];
};

describe('the source of a task', () => {
  it.each(['chat', 'webhook', 'schedule'])('%s is not a caller’s to say, alone or in bulk', async (source) => {
    expect(await problemOf({ source })).toEqual([403, 'task.source-reserved']);
    const { body } = await api.call('POST', '/v1/tasks/bulk', { body: [{ agent: 'echo', input: 'x', source }] });
    expect(body.items[0]).toMatchObject({ httpStatus: 403, problem: { code: 'task.source-reserved' } });
  });

  it('is api or proactive as the caller says, and delegation with the task that delegates', async () => {
    expect((await submit({ source: 'api' })).status).toBe(202);
    expect((await submit({ source: 'proactive' })).status).toBe(202);
    expect(await problemOf({ source: 'delegation' })).toEqual([422, 'request.invalid']);
    expect(await problemOf({ source: 'delegation', parentTaskId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' })).toEqual([404, 'task.not-found']);
    const { id } = (await submit({})).body;
    const child = (await submit({ source: 'delegation', parentTaskId: id })).body;
    expect((await api.call('GET', `/v1/tasks/${child.id}`)).body).toMatchObject({ source: 'delegation', parentTaskId: id, sourceId: null });
  });
});

describe('the id of what a task came from', () => {
  it('is a proactive caller’s own, and of nobody else', async () => {
    const { id } = (await submit({ source: 'proactive', sourceId: 'inbox-watch' })).body;
    expect((await api.call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ source: 'proactive', sourceId: 'inbox-watch' });
    expect(await problemOf({ sourceId: 'inbox-watch' })).toEqual([422, 'request.invalid']);
    expect(await problemOf({ source: 'api', sourceId: 'inbox-watch' })).toEqual([422, 'request.invalid']);
  });

  it('is the schedule of a run, and tasks are found by it', async () => {
    const { body: schedule } = await api.call('POST', '/v1/schedules', { body: { every: '1h', agent: 'echo', message: 'x' } });
    const { body: run } = await api.call('POST', `/v1/schedules/${schedule.id}/run`);
    expect((await api.call('GET', `/v1/tasks/${run.id}`)).body).toMatchObject({ source: 'schedule', sourceId: schedule.id });
    const hooked = await acceptTask(api.parts, { tenant: 'default', agent: 'echo', input: 'x', source: 'webhook', sourceId: 'hook-1' });
    const found = async (sourceId: string): Promise<string[]> => {
      const { body } = await api.call('GET', `/v1/tasks?sourceId=${sourceId}`);
      return body.items.map(({ id }: { id: string }) => id);
    };
    expect(await found(schedule.id)).toEqual([run.id]);
    expect(await found('hook-1')).toEqual([hooked.id]);
    expect(await found('another')).toEqual([]);
  });
});
