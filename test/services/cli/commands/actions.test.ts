import { describe, expect, it } from 'vitest';
import { answer, TASK_ID } from '../fake-api.ts';
import { type Handlers, useMuster } from '../use-muster.ts';

const { api, muster, sent } = useMuster();

const ID = '01JQZX5M8Q2V7W3K4N6P9R0T1A';
const PATH = '/v1/tasks/actions';

function action(changes: object = {}): Record<string, unknown> {
  const counts = { matched: 3, exact: true, done: 0, skipped: 0, failed: 0 };
  const times = { createdAt: '2026-01-01T00:00:00.000Z', completedAt: null };
  return { id: ID, action: 'retry', status: 'pending', ...counts, ...times, error: null, ...changes };
}

const ENDED = { status: 'completed', completedAt: '2026-01-01T00:00:05.000Z' };

const made = (body: object): Handlers => ({
  [`POST ${PATH}`]: (response) => answer(response, 202, body),
});
describe('an action on all tasks of a filter', () => {
  it('sends the filter and waits for the end', async () => {
    const handlers = {
      ...made(action()),
      [`GET ${PATH}/${ID}`]: (response: Parameters<typeof answer>[0]) => answer(response, 200, action({ ...ENDED, done: 2, skipped: 1 })),
    };
    const args = ['--code', 'NETWORK_ERROR', '--status', 'failed,timeout', '--since', '2026-01-01T00:00:00Z'];
    expect(await muster(handlers, ['retry', '--all', ...args])).toMatchObject({
      code: 0,
      stdout: '2 of 3 tasks were retried; 1 had changed.\n',
      stderr: expect.stringContaining(ID),
    });
    expect(sent()).toEqual({
      action: 'retry',
      filter: { code: 'NETWORK_ERROR', status: ['failed', 'timeout'], since: '2026-01-01T00:00:00Z' },
    });
  });

  it('takes several ids, a worker and metadata', async () => {
    const handlers = made(action({ ...ENDED, matched: 2, done: 2 }));
    expect((await muster(handlers, ['retry', TASK_ID, ID])).stdout).toBe('2 tasks were retried.\n');
    expect(sent()).toEqual({ action: 'retry', ids: [TASK_ID, ID] });
    await muster(handlers, ['retry', '--all', '--worker', 'w1', '--metadata', 'customer:42', 'tier:a']);
    expect(sent()).toEqual({ action: 'retry', filter: { worker: 'w1', metadata: ['customer:42', 'tier:a'] } });
  });

  it('ends with 1 when it could not be applied to a task', async () => {
    const ended = action({ ...ENDED, action: 'cancel', done: 2, failed: 1, error: `${TASK_ID}: no` });
    expect(await muster(made(ended), ['cancel', '--all', '--session', 's', '--reason', 'enough'])).toMatchObject({
      code: 1,
      stdout: `2 of 3 tasks were cancelled; 1 could not be cancelled: ${TASK_ID}: no.\n`,
    });
    expect(sent()).toEqual({ action: 'cancel', filter: { session: 's' }, reason: 'enough' });
  });

  it('prints the last answer with --json, with the fields that no line shows', async () => {
    const ended = { ...action({ ...ENDED, done: 3 }), createdBy: 'ci' };
    const handlers: Handlers = { ...made(action()), [`GET ${PATH}/${ID}`]: (response) => answer(response, 200, ended) };
    expect(JSON.parse((await muster(handlers, ['retry', '--all', '--json'])).stdout)).toEqual(ended);
  });

  it('returns at once with --no-wait', async () => {
    const { stdout } = await muster(made(action({ action: 'discard', exact: false })), ['discard', '--all', '--no-wait']);
    expect(stdout).toBe('At least 3 tasks will be discarded. Show the progress with npx muster actions\n');
  });

  it('only counts with --dry-run', async () => {
    const { stdout } = await muster(made({ action: 'retry', matched: 1, exact: true }), ['retry', '--all', '--dry-run']);
    expect(stdout).toBe('1 task would be retried.\n');
    expect(sent()).toEqual({ action: 'retry', filter: {}, dryRun: true });
  });

  it('cancels everything only where a filter says so', async () => {
    expect(await muster({}, ['cancel', '--all'])).toMatchObject({ code: 2, stdout: '' });
    expect(api().requests).toEqual([]);
    const ended = action({ ...ENDED, action: 'cancel', done: 3 });
    const { code } = await muster(made(ended), ['cancel', '--all', '--status', 'pending,queued,running']);
    expect([code, sent()]).toEqual([0, { action: 'cancel', filter: { status: ['pending', 'queued', 'running'] } }]);
  });

  it.each([[['retry']], [['retry', TASK_ID, '--all']]])('is refused with %j, which names no task or two things', async (args) => {
    expect(await muster({}, args)).toMatchObject({ code: 2, stdout: '' });
    expect(api().requests).toEqual([]);
  });
});

describe('muster discard', () => {
  it('removes the record of one task', async () => {
    const { stdout } = await muster({ [`DELETE /v1/tasks/${TASK_ID}`]: (response) => void response.writeHead(204).end() }, [
      'discard',
      TASK_ID,
    ]);
    expect(stdout).toBe('The record of the task is removed.\n');
  });
});

describe('muster actions', () => {
  it('shows the progress of each', async () => {
    const items = [action({ status: 'running', done: 2, exact: false, createdAt: '2100-01-01T00:00:00.000Z' })];
    const { stdout } = await muster({ [`GET ${PATH}`]: (response) => answer(response, 200, { items, nextCursor: null }) }, ['actions']);
    expect(stdout).toMatch(new RegExp(`^${ID} +retry +running +3\\+ +2 +0 +0 +0s$`, 'm'));
  });

  it('cancels one', async () => {
    const handlers = {
      [`POST ${PATH}/${ID}/cancel`]: (response: Parameters<typeof answer>[0]) => answer(response, 202, action({ status: 'cancelling' })),
    };
    expect((await muster(handlers, ['actions', 'cancel', ID])).stdout).toBe(`Action ${ID} is cancelling.\n`);
  });
});
