import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { changeDaemon } from '#shared/daemons/daemon-store.ts';
import { readDaemonStates } from '#shared/daemons/daemon-states.ts';
import { readAttemptOutput, readLog } from '#shared/ledger/read/run-log.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { listWorkers } from '#shared/queue/registry/worker-registry.ts';
import type { Task } from '#shared/tasks/task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const parts = await useParts({
  agents: { echo: { kind: 'echo' }, coder: { kind: 'daemon', takesInput: true } },
  hub: { resendMs: 100, sweepMs: 200 },
});
const hub = await startHub(parts);
afterAll(() => hub.stop());

async function until(id: string, status: Task['state']['status']): Promise<Task> {
  return await waitFor(
    async () => {
      const task = await readTask(parts.ledger, 'default', id);
      return task?.state.status === status ? task : null;
    },
    { deadlineMs: 10_000, what: `the task to be ${status}` },
  );
}

const accept = async (request: Partial<Parameters<typeof acceptTask>[1]> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it', ...request })).id;

describe('a task for a daemon', () => {
  it('is run by it, with its output as it is written, and acknowledged', async () => {
    const { id: daemonId, token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const id = await accept({ context: { repo: 'a' }, system: 'be brief' });
    const execute = await daemon.accept();
    expect(execute).toMatchObject({
      taskId: id,
      token: 1,
      attempt: 1,
      agent: 'coder',
      input: 'write it',
      system: 'be brief',
      context: { repo: 'a' },
      takesInput: true,
      timeoutMs: expect.any(Number),
      deadline: null,
      history: [],
      traceparent: expect.stringMatching(/^00-/),
    });
    const name = { taskId: id, token: execute.token };
    daemon.send({ type: 'task.progress', ...name, note: 'half', percent: 50 });
    daemon.send({ type: 'task.output', ...name, seq: 1, text: 'one ' });
    daemon.send({ type: 'task.output', ...name, seq: 1, text: 'one ' });
    daemon.send({ type: 'task.output', ...name, seq: 2, text: 'two' });
    await waitFor(async () => (await readAttemptOutput(parts.ledger, { tenant: 'default', id, startedAt: 0 })).seq === 2, {
      deadlineMs: 5000,
      what: 'the output',
    });
    daemon.send({ type: 'task.completed', ...name, result: { files: 2 }, usage: { inputTokens: 3, outputTokens: 4 } });
    expect(await daemon.next('task.acknowledged')).toMatchObject({ ...name, outcome: 'kept' });
    expect(await until(id, 'completed')).toMatchObject({
      output: 'one two',
      result: { files: 2 },
      state: { usage: { inputTokens: 3, outputTokens: 4 }, daemon: daemonId },
      attempts: [{ number: 1, daemon: daemonId, worker: expect.stringMatching(/-hub-.*@\d+\.\d+\.\d+$/), status: 'success' }],
    });
    daemon.vanish();
  });

  it('that leaves out pieces of its output has a line about it in its log', async () => {
    const { token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const id = await accept();
    const { token: attempt, tenant } = await daemon.accept();
    expect(tenant).toBe('default');
    const name = { taskId: id, token: attempt };
    daemon.send({ type: 'task.output', ...name, seq: 1, text: 'one ' });
    daemon.send({ type: 'task.output', ...name, seq: 4, text: 'four' });
    daemon.send({ type: 'task.completed', ...name });
    expect(await until(id, 'completed')).toMatchObject({ output: 'one four' });
    const entries = await readLog(parts.ledger, { tenant: 'default', id, after: null, limit: 10 });
    expect(entries.map(({ entry }) => entry)).toMatchObject([{ level: 'warn', fields: '{"missing":2,"before":4}' }]);
    daemon.vanish();
  });

  it('waits for the first heartbeat when it needs memory', async () => {
    const { token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token, { capabilities: ['roomy'] });
    const id = await accept({ requirements: { capabilities: ['roomy'], memoryMb: 2000 } });
    await waitFor(async () => (await readTask(parts.ledger, 'default', id))?.state.gate === 'daemon', {
      deadlineMs: 10_000,
      what: 'the wait',
    });
    daemon.send({ type: 'daemon.heartbeat', load: 0, memoryMb: 4000 });
    expect((await daemon.accept()).taskId).toBe(id);
    daemon.send({ type: 'task.completed', taskId: id, token: 1, output: '' });
    await until(id, 'completed');
    daemon.vanish();
  });

  it('comes with addresses for its files, in and out', async () => {
    const { token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const described = { name: 'note.txt', mediaType: 'text/plain' };
    const { file } = await parts.files.upload('default', described, Readable.from([Buffer.from('hello')]));
    const id = await accept({ attachments: [{ uploadId: file }] });
    const execute = await daemon.accept();
    expect(execute.attachments).toEqual([{ ...described, bytes: 5, url: expect.stringMatching(/^http:\/\/.*\/files\//) }]);
    expect(execute.artifactsUrl).toMatch(/^http:\/\/.*\/files\//);
    daemon.send({ type: 'task.completed', taskId: id, token: execute.token, output: '' });
    await until(id, 'completed');
    daemon.vanish();
  });

  it('shows among what its daemon runs, long before the next beat', async () => {
    const { id: daemonId, token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const id = await accept();
    const execute = await daemon.accept();
    const runs = async (): Promise<number | undefined> => {
      const states = await readDaemonStates(parts, 'default');
      return states.find((each) => each.id === daemonId)?.state.running;
    };
    const sees = async (count: number): Promise<boolean> =>
      await waitFor(async () => (await runs()) === count, { deadlineMs: 5000, what: `${count} running to be seen` });
    expect(await sees(1)).toBe(true);
    daemon.send({ type: 'task.completed', taskId: id, token: execute.token, output: '' });
    await until(id, 'completed');
    expect(await sees(0)).toBe(true);
    daemon.vanish();
  });

  it('fails with what the daemon says, and is not tried again when that is final', async () => {
    const { token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const id = await accept();
    const { token: attempt } = await daemon.accept();
    const error = { code: 'NO_REPOSITORY', message: 'there is no such folder', retryable: false, details: { folder: '/x' } };
    daemon.send({ type: 'task.failed', taskId: id, token: attempt, error });
    expect(await daemon.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    const { state } = await until(id, 'permanently_failed');
    expect(state).toMatchObject({ attempt: 1, error: { code: 'NO_REPOSITORY', message: 'there is no such folder' } });
    daemon.vanish();
  });

  it('waits while no daemon is there, and starts when one connects', async () => {
    const { token } = await registerDaemon(parts);
    const id = await accept();
    await waitFor(async () => (await readTask(parts.ledger, 'default', id))?.state.gate === 'daemon', {
      deadlineMs: 10_000,
      what: 'the task to wait for a daemon',
    });
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const { token: attempt } = await daemon.accept();
    expect(attempt).toBe(1);
    daemon.send({ type: 'task.completed', taskId: id, token: attempt, output: 'done' });
    await until(id, 'completed');
    daemon.vanish();
  });

  it('is sent again until the daemon accepts it', async () => {
    const { token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    const id = await accept();
    await daemon.next('task.execute');
    const again = await daemon.accept();
    expect(again.taskId).toBe(id);
    daemon.send({ type: 'task.completed', taskId: id, token: again.token, output: '' });
    await until(id, 'completed');
    daemon.vanish();
  });
});

describe('a daemon that is connected', () => {
  it('is known to the fleet, with what its registration allows of what it declares', async () => {
    const { id, token } = await registerDaemon(parts, { capabilities: ['browser', 'code'], slots: 2 });
    const hello = { capabilities: ['code', 'gpu'], slots: 9, version: '1.2', host: 'desk' };
    const daemon = await RawDaemon.welcomed(hub.url, token, hello);
    const states = await readDaemonStates(parts, 'default');
    const found = states.find((each) => each.id === id);
    expect(found?.state).toMatchObject({ capabilities: ['code'], slots: 2, agents: null, running: 0, version: '1.2', host: 'desk' });
    daemon.vanish();
    await waitFor(async () => (await readDaemonStates(parts, 'default')).every((each) => each.id !== id), {
      deadlineMs: 5000,
      what: 'the fleet to know that it is gone',
    });
  });

  it('loses its connection when it is disabled', async () => {
    const { id, token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(hub.url, token);
    await changeDaemon(parts, { tenant: 'default', id }, { enabled: false });
    expect(await daemon.closed()).toBe(4401);
    await expect(RawDaemon.connect(hub.url, token)).rejects.toThrow('401');
  });

  it('loses the older of two connections', async () => {
    const { token } = await registerDaemon(parts);
    const first = await RawDaemon.welcomed(hub.url, token);
    const second = await RawDaemon.welcomed(hub.url, token);
    expect(await first.closed()).toBe(4409);
    expect(second.closeCode).toBeNull();
    second.vanish();
  });
});

describe('a hub', () => {
  it('refuses a token that it does not know before the handshake', async () => {
    await expect(RawDaemon.connect(hub.url, `md_${'x'.repeat(43)}`)).rejects.toThrow('401');
    await expect(RawDaemon.connect(hub.url, 'nonsense')).rejects.toThrow('401');
  });

  it('reports itself as a hub that serves the queue of daemons', async () => {
    const workers = await listWorkers({ ...parts, settings: parts.config.settings });
    expect(workers).toMatchObject([{ role: 'hub', queues: ['remote'], slots: 1000 }]);
  });

  it('says how to connect to whoever opens its address without a WebSocket', async () => {
    const answer = await fetch(hub.url);
    expect(answer.status).toBe(426);
    expect(await answer.json()).toMatchObject({ code: 'request.upgrade-required', detail: expect.stringContaining('npx muster daemon') });
  });

  it('publishes the schema of its messages', async () => {
    const answer = await fetch(`${hub.url}/schema.json`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ protocol: 1, daemonToHub: { 'daemon.hello': {} }, hubToDaemon: { 'task.execute': {} } });
  });
});
