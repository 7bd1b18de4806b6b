import { expect, it } from 'vitest';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
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
  expect(body.waiting).toContainEqual({ gate: 'lane', kind: 'parked', count: 1, oldestMs: expect.any(Number) });
  expect(body.waiting).toContainEqual({ gate: 'queue', kind: 'slot', count: 1, oldestMs: expect.any(Number) });
  const other = await api.keyOf('elsewhere', ['read']);
  expect((await api.call('GET', '/v1/now', { key: other })).body).toEqual({
    running: [],
    runningTotal: 0,
    waiting: [],
    questions: { open: 0, oldestAt: null },
  });
});

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((total, each) => total + (each ?? 0), 0);
}

/** What a task waits at, and what it counts as there. */
const WAITS = [
  { gate: 'queue', kind: 'slot', request: {} },
  { gate: 'lane', kind: 'parked', request: { session: 'lobby' } },
  { gate: 'time', kind: 'parked', request: { scheduledFor: '2100-01-01T00:00:00.000Z' } },
  { gate: 'daemon', kind: 'daemon', request: {}, hold: { gate: 'daemon', what: '{}' } },
  { gate: 'budget', kind: 'held', request: {}, hold: { gate: 'budget', what: 'all' } },
  { gate: 'provider', kind: 'held', request: {}, hold: { gate: 'provider', what: 'openai gpt-5' } },
] as const;

it('the counts of now, of the queues and of the metrics are one count', async () => {
  const { redis, keys, ledger } = parts;
  const accept = async (request: object): Promise<string> =>
    (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'do it', ...request })).id;
  for (const { request, ...wait } of WAITS) {
    const id = await accept(request);
    if ('hold' in wait) await holdTask(ledger, { tenant: 'default', id, hold: wait.hold, until: null });
  }
  await parts.relay.idle();
  await redis.del(keys.fleet.load, keys.fleet.lastLoad, keys.tenant('default').load, keys.tenant('default').lastLoad);
  const [now, metrics, queues] = await Promise.all(['now', 'metrics', 'queues'].map((path) => api.call('GET', `/v1/${path}`)));
  const byGate: { gate: string; kind: string; count: number }[] = now?.body.waiting;
  const byQueue: Record<string, number>[] = queues?.body.items;
  expect(byGate).toEqual(expect.arrayContaining(WAITS.map(({ gate, kind }) => expect.objectContaining({ gate, kind }))));
  const ofKind = (...kinds: string[]): number => sum(byGate.filter(({ kind }) => kinds.includes(kind)).map(({ count }) => count));
  const ofQueues = (field: string): number => sum(byQueue.map((queue) => queue[field]));
  expect(ofQueues('waiting')).toBe(ofKind('slot', 'daemon', 'held', 'parked'));
  expect(metrics?.body.queue_depth_total).toBe(ofQueues('waiting'));
  expect(['forSlot', 'forDaemon', 'held', 'parked'].map(ofQueues)).toEqual([
    ofKind('slot'),
    ofKind('daemon'),
    ofKind('daemon', 'held'),
    ofKind('parked'),
  ]);
  expect(byQueue.find(({ forDaemon }) => forDaemon === 1)).toMatchObject({ oldestWaitingAgeMs: expect.any(Number) });
});

it('names the queue where that keeps tasks waiting which would only need a slot', async () => {
  const key = await api.keyOf('patient', ['read']);
  await acceptTask(parts, { tenant: 'patient', agent: 'echo', input: 'do it', priority: 'low' });
  await parts.queues.get(0, 'background').pause();
  const { body } = await api.call('GET', '/v1/now', { key });
  expect(body.waiting).toEqual([{ gate: 'paused', kind: 'held', count: 1, oldestMs: expect.any(Number) }]);
});
