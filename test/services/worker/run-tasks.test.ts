import { describe, expect, it } from 'vitest';
import type { AgentFunction, AgentResult } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import type { Task } from '#shared/tasks/task.ts';
import { releaseOf } from '#shared/tasks/worker-name.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';

const running = new Map<string, { signal: AbortSignal; finish: (text: string) => void }>();

/** Runs until the test finishes it, or it is aborted. */
const held: AgentFunction = (task, { signal }) =>
  new Promise((resolve, reject) => {
    running.set(task.id, { signal, finish: resolve });
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

/** Writes one half of a character, and the other when the test lets it go on. */
const halves: AgentFunction = async (task, { signal, write }) => {
  write('a\uD83D');
  await new Promise<string>((resolve) => running.set(task.id, { signal, finish: resolve }));
  write('\uDE00b');
};

const throttledOnce: AgentFunction = (task, { log }) => {
  log.debug('throttled once');
  if (running.has(task.id)) return Promise.resolve('served');
  running.set(task.id, { signal: new AbortController().signal, finish: () => undefined });
  throw new TaskFailure('THROTTLED', 'the provider is busy', { retryAfterMs: 50 });
};

const parts = await useParts({
  agents: {
    echo: { kind: 'echo' },
    held: { kind: 'function', run: held },
    halves: { kind: 'function', run: halves },
    throttled: { kind: 'function', run: throttledOnce },
    returned: { kind: 'function', run: ({ input }) => Promise.resolve(JSON.parse(input) as AgentResult) },
    empty: { kind: 'function', run: () => Promise.resolve({ output: '', result: { list: [], nothing: null } }) },
  },
  tasks: { maxOutputBytes: 50_000 },
  worker: { leaseMs: 1000, orphanCheckIntervalMs: 100, cancelGraceMs: 300 },
});
await useWorker({ ...parts, config: { ...parts.config, env: { ...parts.config.env, MUSTER_RELEASE: 'a/b' } } });

const submit = async (request: Partial<AcceptRequest>): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'hello there', ...request })).id;

const ended = (id: string): Promise<Task> => awaitEnd(parts, id);

const reads = async (id: string): Promise<Task> => (await readTask(parts.ledger, 'default', id)) as Task;

describe('a worker', () => {
  it('runs an accepted task to its end and records its states', async () => {
    const task = await ended(await submit({}));
    expect(task.output).toBe('hello there');
    expect(task.state).toMatchObject({ status: 'completed', attempt: 1, outcome: { kind: 'ran' } });
    expect(releaseOf(task.state.worker)).toBe('a/b');
    expect(parseTimeline(task.state.log).map(({ status }) => status)).toEqual(['pending', 'queued', 'scheduled', 'running', 'completed']);
  });

  it('keeps empty lists and nulls of a result as they are', async () => {
    const task = await ended(await submit({ agent: 'empty' }));
    expect(task.result).toEqual({ list: [], nothing: null });
  });

  it.each([
    ['an output over the bound', 'OUTPUT_TOO_LARGE', { output: 'x'.repeat(50_001) }],
    ['a result over the bound', 'OUTPUT_TOO_LARGE', { result: ['x'.repeat(50_000)] }],
    ['a result nested without end', 'AGENT_ERROR', { result: JSON.parse('['.repeat(3000) + ']'.repeat(3000)) as unknown }],
  ])('fails an attempt that answers with %s, by the settings', async (_what, code, answer) => {
    const task = await ended(await submit({ agent: 'returned', input: JSON.stringify(answer), execution: { maxAttempts: 1 } }));
    expect(task.state).toMatchObject({ status: 'permanently_failed', error: { code } });
  });

  it('streams a character that was written in two halves as one', async () => {
    const id = await submit({ agent: 'halves' });
    const stream = parts.keys.tenant('default').output(id);
    const texts = async (): Promise<string[]> => (await parts.redis.xrange(stream, '-', '+')).map(([, fields]) => fields.at(-1) ?? '');
    await waitFor(async () => (await texts()).length > 0, { deadlineMs: 3000, what: 'the first entry' });
    running.get(id)?.finish('');
    expect((await ended(id)).output).toBe('a😀b');
    expect(await texts()).toEqual(['a', '😀b']);
  });

  it('tries again after a transient failure, with the attempts listed', async () => {
    const id = await submit({ context: { failAttempts: 1 }, execution: { retryDelayMs: 20 } });
    const task = await ended(id);
    expect(task.attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 'failed'],
      [2, 'success'],
    ]);
    expect(task.attempts[0]?.error?.code).toBe('NETWORK_ERROR');
  });

  it('gives up after the last attempt', async () => {
    const id = await submit({ context: { failAttempts: 9 }, execution: { retryDelayMs: 1, maxAttempts: 2 } });
    const task = await ended(id);
    expect(task.state).toMatchObject({ status: 'permanently_failed', attempt: 2, error: { code: 'NETWORK_ERROR' } });
  });

  it('never tries a permanent failure again', async () => {
    const task = await ended(await submit({ context: { failAttempts: 9, failCode: 'INVALID_INPUT' } }));
    expect(task.state).toMatchObject({ status: 'permanently_failed', attempt: 1 });
  });

  it('puts a throttled task back without counting the attempt', async () => {
    const task = await ended(await submit({ agent: 'throttled', execution: { maxAttempts: 1 } }));
    expect(task.state).toMatchObject({ status: 'completed', attempt: 1 });
    expect(task.attempts.map(({ status }) => status)).toEqual(['interrupted', 'success']);
  });

  it('times out an attempt and allows the next one longer', async () => {
    const id = await submit({ agent: 'held', execution: { timeoutMs: 60, maxAttempts: 2, retryDelayMs: 1 } });
    const task = await ended(id);
    expect(task.state.status).toBe('permanently_failed');
    expect(task.attempts.map(({ status, error }) => [status, error?.code])).toEqual([
      ['timeout', 'EXECUTION_TIMEOUT'],
      ['timeout', 'EXECUTION_TIMEOUT'],
    ]);
    expect(task.state.timeoutMs).toBe(90);
  });

  it('starts a task that is due later when it is due, and not before', async () => {
    const due = Date.now() + 400;
    const task = await ended(await submit({ scheduledFor: new Date(due).toISOString() }));
    expect(task.state.startedAt).toBeGreaterThanOrEqual(due);
  });

  it('aborts a running task that is cancelled', async () => {
    const id = await submit({ agent: 'held' });
    await waitFor(() => running.get(id), { deadlineMs: 3000, what: 'the start' });
    expect(await cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'not needed')).toMatchObject({ kind: 'stopping' });
    const task = await ended(id);
    expect(task.state).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled', reason: 'not needed' } });
    expect(running.get(id)?.signal.aborted).toBe(true);
  });

  it('runs the tasks of one session one at a time, in order', async () => {
    const first = await submit({ agent: 'held', session: 'one', input: '1' });
    const second = await submit({ agent: 'held', session: 'one', input: '2' });
    const third = await submit({ agent: 'held', session: 'one', input: '3' });
    await waitFor(() => running.get(first), { deadlineMs: 3000, what: 'the first' });
    expect([(await reads(second)).state.gate, (await reads(third)).state.gate]).toEqual(['lane', 'lane']);
    for (const id of [first, second, third]) {
      const { finish } = await waitFor(() => running.get(id), { deadlineMs: 3000, what: 'the next' });
      finish('done');
      await ended(id);
    }
    const starts = await Promise.all([first, second, third].map(reads));
    expect(starts[1]?.state.startedAt).toBeGreaterThanOrEqual(starts[0]?.state.completedAt as number);
    expect(starts[2]?.state.startedAt).toBeGreaterThanOrEqual(starts[1]?.state.completedAt as number);
  });

  it('renews its lease for as long as the task runs', async () => {
    const id = await submit({ agent: 'held' });
    const { finish } = await waitFor(() => running.get(id), { deadlineMs: 3000, what: 'the start' });
    const lease = parts.keys.shard(0).leases;
    const first = Number(await parts.redis.zscore(lease, `default/${id}/1`));
    await waitFor(async () => Number(await parts.redis.zscore(lease, `default/${id}/1`)) > first, { deadlineMs: 3000, what: 'a renewal' });
    finish('done');
    expect((await ended(id)).state.attempt).toBe(1);
  });
});
