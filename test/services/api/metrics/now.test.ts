import { expect, it } from 'vitest';
import { appendLog, appendOutput } from '#shared/ledger/read/run-log.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();
const { parts } = api;

it('shows what runs with its last line, and counts what waits by gate', async () => {
  const drive = driveTasks(parts);
  const submit = async (request: object = {}): Promise<string> =>
    (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'do it', ...request })).id;
  const id = await submit({ session: 'lobby' });
  await submit({ session: 'lobby' });
  await submit();
  const ref = await drive.start(id);
  await appendOutput(parts.ledger, ref, { attempt: 1, seq: 1, text: 'first\nreads the ' });
  await appendOutput(parts.ledger, ref, { attempt: 1, seq: 2, text: 'files\n\n' });
  await appendLog(parts.ledger, ref, { attempt: 1, kind: 'progress', note: 'half of it', percent: 50 });
  const { status, body } = await api.call('GET', '/v1/now');
  expect(status).toBe(200);
  expect(body.runningTotal).toBe(1);
  expect(body.running).toMatchObject([
    { id, agent: 'echo', session: 'lobby', attempt: 1, lastLine: 'reads the files', progress: { note: 'half of it', percent: 50 } },
  ]);
  expect(body.waiting).toContainEqual({ gate: 'lane', count: 1, oldestMs: null });
  expect(body.waiting).toContainEqual({ gate: 'queue', count: 1, oldestMs: expect.any(Number) });
  const other = await api.keyOf('elsewhere', ['read']);
  expect((await api.call('GET', '/v1/now', { key: other })).body).toEqual({ running: [], runningTotal: 0, waiting: [] });
});

it('names the queue where that keeps tasks waiting which would only need a slot', async () => {
  const key = await api.keyOf('patient', ['read']);
  await acceptTask(parts, { tenant: 'patient', agent: 'echo', input: 'do it', priority: 'low' });
  await parts.queues.get(0, 'background').pause();
  const { body } = await api.call('GET', '/v1/now', { key });
  expect(body.waiting).toEqual([{ gate: 'paused', count: 1, oldestMs: expect.any(Number) }]);
});
