import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { parseKnownState } from '#shared/ledger/codec/state.ts';
import { readDaemonStates } from '#shared/daemons/daemon-states.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { offerInput } from '#shared/queue/accept/offer-input.ts';
import type { Task } from '#shared/tasks/task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub, type TestHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { storedState } from '../../shared/ledger/support/stored-states.ts';

const GRACE_MS = 2000;

const parts = await useParts({
  agents: { coder: { kind: 'daemon', takesInput: true } },
  hub: { resendMs: 100, sweepMs: 200, graceMs: GRACE_MS, excludeMs: 3000 },
  worker: { cancelGraceMs: 500 },
  runaways: { maxTokens: 1000 },
});
// Promotes what waits for a time.
await useWorker(parts);
const hub = await startHub(parts);
const other = await startHub(parts);
const hubs: TestHub[] = [hub, other];
afterAll(() => Promise.all(hubs.map((each) => each.stop())));

const open: RawDaemon[] = [];
afterEach(() => {
  for (const daemon of open.splice(0)) daemon.vanish();
});

async function connect(token: string, at: TestHub = hub, hello: Parameters<RawDaemon['hello']>[0] = {}): Promise<RawDaemon> {
  const daemon = await RawDaemon.connect(at.url, token);
  open.push(daemon);
  daemon.hello(hello);
  return daemon;
}

/** A task that a daemon of its own runs. */
async function running(wish: Partial<Parameters<typeof acceptTask>[1]> = {}): Promise<{
  id: string;
  name: { taskId: string; token: number };
  daemon: RawDaemon;
  daemonId: string;
  secret: string;
}> {
  const capability = `one-${crypto.randomUUID()}`;
  const { id: daemonId, token: secret } = await registerDaemon(parts);
  const daemon = await connect(secret, hub, { capabilities: [capability] });
  await daemon.next('hub.welcome');
  const requirements = { capabilities: [capability], ...wish.requirements };
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it', ...wish, requirements });
  const { token } = await daemon.accept();
  return { id, name: { taskId: id, token }, daemon, daemonId, secret };
}

async function read(id: string): Promise<Task> {
  const task = await readTask(parts.ledger, 'default', id);
  if (!task) throw new Error('there is no such task');
  return task;
}

async function until(id: string, status: Task['state']['status']): Promise<Task> {
  const check = async (): Promise<Task | null> => {
    const task = await read(id);
    return task.state.status === status ? task : null;
  };
  return await waitFor(check, { deadlineMs: 10_000, what: `the task to be ${status}` });
}

/** Whether the fleet comes to know this of a daemon. */
async function shows(daemon: string, wanted: { running: number; cpuIntensive?: number }): Promise<boolean> {
  const check = async (): Promise<boolean> => {
    const state = (await readDaemonStates(parts, 'default')).find(({ id }) => id === daemon)?.state;
    const { running: count, cpuIntensive = state?.cpuIntensive } = wanted;
    return state?.running === count && state.cpuIntensive === cpuIntensive;
  };
  return await waitFor(check, { deadlineMs: 10_000, what: `the daemon to show ${JSON.stringify(wanted)}` });
}

describe('while a task runs on a daemon', () => {
  it('a cancel reaches it, is sent again, and its answer ends the task', async () => {
    const { id, name, daemon } = await running();
    await cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough of it');
    expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: 'enough of it' });
    await daemon.next('task.cancel');
    daemon.send({ type: 'task.failed', ...name, error: { code: 'CANCELLED', message: 'stopped' } });
    expect(await daemon.next('task.acknowledged')).toMatchObject({ ...name, outcome: 'kept' });
    await until(id, 'cancelled');
  });

  it('a message for its run reaches it, and again after a new connection', async () => {
    const { id, name, daemon, secret } = await running();
    await offerInput(parts, { tenant: 'default', task: id, input: 'and this' });
    const input = await daemon.next('task.input');
    expect(input).toMatchObject({ ...name, text: 'and this' });
    daemon.vanish();
    const again = await connect(secret, hub, { running: [name] });
    expect(await again.next('task.input')).toEqual(input);
    again.send({ type: 'task.completed', ...name, output: 'done' });
    await until(id, 'completed');
  });

  it('its timeout stops it without an answer, and a late result is refused', async () => {
    const { id, name, daemon } = await running({ execution: { timeoutMs: 300, maxAttempts: 1 } });
    expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: 'timeout' });
    expect((await until(id, 'permanently_failed')).state.error?.code).toBe('EXECUTION_TIMEOUT');
    daemon.send({ type: 'task.output', ...name, seq: 1, text: 'late' });
    expect(await daemon.next('task.cancel')).toMatchObject(name);
    daemon.send({ type: 'task.completed', ...name, output: 'late' });
    expect(await daemon.next('task.acknowledged')).toMatchObject({ ...name, outcome: 'refused' });
    expect((await read(id)).output).toBeNull();
  });

  it('a stop that the daemon does not answer keeps its slot, and is sent again until the answer', async () => {
    // Long enough for the daemon's acceptance to arrive before it.
    const { id, name, daemon, daemonId } = await running({ execution: { timeoutMs: 1500, maxAttempts: 1 } });
    await until(id, 'permanently_failed');
    daemon.received.splice(0);
    // These come after the end of the attempt.
    for (let count = 0; count < 2; count += 1) expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: 'timeout' });
    expect(await shows(daemonId, { running: 1 })).toBe(true);
    daemon.send({ type: 'task.failed', ...name, error: { code: 'CANCELLED' } });
    expect(await shows(daemonId, { running: 0 })).toBe(true);
  });

  it.each([[true], [false]])('such a stop keeps no slot of its next connection (the one before has ended: %s)', async (hasEnded) => {
    const { id, name, daemon, daemonId, secret } = await running({ execution: { timeoutMs: 1500, maxAttempts: 1 } });
    await until(id, 'permanently_failed');
    expect(await shows(daemonId, { running: 1 })).toBe(true);
    if (hasEnded) daemon.vanish();
    const next = await connect(secret, hub, { running: [name] });
    expect(await next.next('hub.welcome')).toMatchObject({ keep: [], drop: [id] });
    expect(await shows(daemonId, { running: 0 })).toBe(true);
  });

  it('its state counts a task that is CPU-intensive until that has ended', async () => {
    const { name, daemon, daemonId } = await running({ requirements: { cpuIntensive: true } });
    expect(await shows(daemonId, { running: 1, cpuIntensive: 1 })).toBe(true);
    daemon.send({ type: 'task.completed', ...name, output: '' });
    expect(await shows(daemonId, { running: 0, cpuIntensive: 0 })).toBe(true);
  });

  it('what it has used counts against its bounds, as a total, and stops it', async () => {
    const { id, name, daemon } = await running();
    for (let count = 0; count < 3; count += 1) daemon.send({ type: 'task.usage', ...name, usage: { inputTokens: 400, outputTokens: 0 } });
    await daemon.flushed();
    expect((await read(id)).state.status).toBe('running');
    daemon.send({ type: 'task.usage', ...name, usage: { inputTokens: 900, outputTokens: 100 } });
    expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: expect.stringContaining('used 1000 tokens') as string });
    const usage = { inputTokens: 900, outputTokens: 110 };
    daemon.send({ type: 'task.failed', ...name, error: { code: 'CANCELLED' }, usage });
    expect((await until(id, 'permanently_failed')).state).toMatchObject({ error: { code: 'RUNAWAY' }, usage });
  });

  it('what it had used counts although its daemon is lost', async () => {
    const { id, name, daemon } = await running({ execution: { maxAttempts: 1 } });
    daemon.send({ type: 'task.usage', ...name, usage: { inputTokens: 40, outputTokens: 2 } });
    await daemon.flushed();
    daemon.vanish();
    const used = async (): Promise<unknown> => (await read(id)).attempts[0]?.usage;
    expect(await waitFor(used, { deadlineMs: 10_000, what: 'the usage of the lost attempt' })).toMatchObject({
      inputTokens: 40,
      outputTokens: 2,
    });
  });

  it('a result that is sent twice counts once, and is kept twice', async () => {
    const { id, name, daemon } = await running();
    daemon.send({ type: 'task.completed', ...name, output: 'done' });
    expect(await daemon.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    await until(id, 'completed');
    daemon.send({ type: 'task.completed', ...name, output: 'another' });
    expect(await daemon.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    expect((await read(id)).output).toBe('done');
  });

  it('output over the bound fails it and stops the daemon', async () => {
    const { id, name, daemon } = await running();
    const text = 'x'.repeat(900_000);
    for (let seq = 1; seq <= 3 + parts.settings.tasks.maxOutputBytes / text.length; seq += 1) {
      daemon.send({ type: 'task.output', ...name, seq, text });
    }
    expect(await daemon.next('task.cancel')).toMatchObject(name);
    expect((await until(id, 'permanently_failed')).state.error?.code).toBe('OUTPUT_TOO_LARGE');
  });
});

/** As if its attempt had started so long ago. */
async function startEarlier(id: string, byMs: number): Promise<void> {
  const { states } = parts.keys.tenant('default');
  // A daemon has accepted it a moment before it is written as running.
  await until(id, 'running');
  const state = parseKnownState((await parts.redis.hget(states, id)) ?? '') as { startedAt: number };
  await parts.redis.hset(states, id, storedState({ ...state, startedAt: state.startedAt - byMs }));
}

describe('a daemon whose connection was cut', () => {
  it('goes on at the same hub, with its output without a gap', async () => {
    const { id, name, daemon, secret } = await running();
    daemon.send({ type: 'task.output', ...name, seq: 1, text: 'one ' });
    daemon.send({ type: 'task.output', ...name, seq: 2, text: 'two ' });
    await daemon.flushed();
    daemon.vanish();
    const again = await connect(secret, hub, { running: [name] });
    const welcome = await again.next('hub.welcome');
    expect(welcome).toMatchObject({
      keep: [id],
      drop: [],
      resume: [{ ...name, seq: 2 }],
      maxMessageBytes: parts.settings.hub.maxMessageBytes,
    });
    again.send({ type: 'task.output', ...name, seq: 3, text: 'three' });
    again.send({ type: 'task.completed', ...name });
    expect(await until(id, 'completed')).toMatchObject({ output: 'one two three', state: { token: 1, spent: 1 } });
  });

  it('goes on at another hub, which adopts the attempt under its token', async () => {
    const { id, name, daemon, secret } = await running();
    daemon.send({ type: 'task.output', ...name, seq: 1, text: 'one ' });
    await daemon.flushed();
    const first = (await read(id)).state.worker;
    const again = await connect(secret, other, { running: [name] });
    expect(await again.next('hub.welcome')).toMatchObject({ keep: [id], drop: [], resume: [{ ...name, seq: 1 }] });
    expect(await daemon.closed()).toBe(4409);
    again.send({ type: 'task.output', ...name, seq: 2, text: 'two' });
    again.send({ type: 'task.completed', ...name });
    expect(await again.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    const { state, output, attempts } = await until(id, 'completed');
    expect({ output, token: state.token, spent: state.spent, attempts: attempts.length }).toEqual({
      output: 'one two',
      token: 1,
      spent: 1,
      attempts: 1,
    });
    expect(state.worker).not.toBe(first);
  });

  it('counts its timeout and its end from its start, also at another hub', async () => {
    const { id, name, secret } = await running({ execution: { timeoutMs: 600_000, maxAttempts: 1 } });
    await startEarlier(id, 595_000);
    const daemon = await connect(secret, other, { running: [name] });
    expect(await daemon.next('task.cancel')).toMatchObject(name);
    const ended = await until(id, 'permanently_failed');
    expect(ended.state).toMatchObject({ error: { code: 'EXECUTION_TIMEOUT' } });
    expect((ended.state.completedAt ?? 0) - (ended.state.startedAt ?? 0)).toBeGreaterThanOrEqual(595_000);
  });

  it('drops an attempt whose timeout passed meanwhile, or cancels it', async () => {
    const { id, name, secret } = await running({ execution: { timeoutMs: 600_000, maxAttempts: 1 } });
    await startEarlier(id, 601_000);
    const daemon = await connect(secret, other, { running: [name] });
    const { drop } = await daemon.next('hub.welcome');
    expect(drop.includes(id) ? name : await daemon.next('task.cancel')).toMatchObject(name);
    expect((await until(id, 'permanently_failed')).state).toMatchObject({ error: { code: 'EXECUTION_TIMEOUT' } });
  });

  it('brings a result that it finished meanwhile to another hub', async () => {
    const { id, name, daemon, secret } = await running();
    daemon.vanish();
    const again = await connect(secret, other, { finished: [name] });
    expect(await again.next('hub.welcome')).toMatchObject({ keep: [id], drop: [] });
    again.send({ type: 'task.output', ...name, seq: 1, text: 'all of it' });
    again.send({ type: 'task.completed', ...name });
    expect(await again.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    expect(await until(id, 'completed')).toMatchObject({ output: 'all of it', state: { token: 1 } });
  });

  it('and that does not come back has lost its attempt, which another daemon gets at no cost', async () => {
    const { id, name, daemon, daemonId, secret } = await running();
    const { capabilities = [] } = (await read(id)).body.requirements ?? {};
    daemon.vanish();
    const { token } = await registerDaemon(parts);
    const second = await connect(token, other, { capabilities });
    const execute = await second.accept();
    expect(execute).toMatchObject({ taskId: id, token: 2 });
    const { state, attempts } = await read(id);
    expect(attempts[0]).toMatchObject({ status: 'failed', daemon: daemonId, error: { code: 'DAEMON_DISCONNECTED' } });
    expect(state).toMatchObject({ spent: 1, daemonLosses: 1, excluded: { [daemonId]: expect.any(Number) } });

    // Frozen and thawed: it still runs its attempt.
    const thawed = await connect(secret, hub, { running: [name] });
    expect(await thawed.next('hub.welcome')).toMatchObject({ keep: [], drop: [id] });
    thawed.send({ type: 'task.completed', ...name, output: 'old' });
    expect(await thawed.next('task.acknowledged')).toMatchObject({ ...name, outcome: 'refused' });
    second.send({ type: 'task.completed', taskId: id, token: 2, output: 'new' });
    expect((await until(id, 'completed')).output).toBe('new');
  });

  it('and that comes back before it accepted its attempt gets it again', async () => {
    const capability = `one-${crypto.randomUUID()}`;
    const { token: secret } = await registerDaemon(parts);
    const daemon = await connect(secret, hub, { capabilities: [capability] });
    await daemon.next('hub.welcome');
    const requirements = { capabilities: [capability] };
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it', requirements });
    const { token } = await daemon.next('task.execute');
    daemon.vanish();
    const again = await connect(secret, hub, { capabilities: [capability] });
    await again.next('hub.welcome');
    const name = await again.accept();
    expect(name).toMatchObject({ taskId: id, token });
    again.send({ type: 'task.completed', taskId: id, token, output: 'done' });
    await until(id, 'completed');
  });

  it('and that comes back without its attempt has crashed', async () => {
    const { id, daemon, secret } = await running({ execution: { maxAttempts: 1 } });
    daemon.vanish();
    await connect(secret);
    const { attempts } = await waitFor(
      async () => {
        const task = await read(id);
        return task.attempts[0]?.endedAt === undefined ? null : task;
      },
      { deadlineMs: 10_000, what: 'the end of the attempt' },
    );
    expect(attempts[0]).toMatchObject({ status: 'failed', error: { code: 'DAEMON_CRASHED' } });
  });

  it('of another tenant adopts nothing, and learns nothing', async () => {
    const { id, name, daemon } = await running();
    const { token } = await registerDaemon(parts, { tenant: 'another' });
    const intruder = await connect(token, other, { running: [name], finished: [name] });
    expect(await intruder.next('hub.welcome')).toMatchObject({ keep: [], drop: [id], resume: [] });
    intruder.send({ type: 'task.completed', ...name, output: 'mine' });
    expect(await intruder.next('task.acknowledged')).toMatchObject({ outcome: 'refused' });
    daemon.send({ type: 'task.completed', ...name, output: 'done' });
    expect((await until(id, 'completed')).output).toBe('done');
  });
});

describe('a hub that stops', () => {
  it('sends its daemons to another one, where their attempts go on', async () => {
    const leaving = await startHub(parts);
    const capability = `one-${crypto.randomUUID()}`;
    const { token: secret } = await registerDaemon(parts);
    const daemon = await connect(secret, leaving, { capabilities: [capability] });
    await daemon.next('hub.welcome');
    const requirements = { capabilities: [capability] };
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it', requirements });
    const { token } = await daemon.accept();
    await daemon.flushed();
    await leaving.stop();
    expect(daemon.closeCode).toBe(1012);
    const again = await connect(secret, hub, { capabilities: [capability], running: [{ taskId: id, token }] });
    expect(await again.next('hub.welcome')).toMatchObject({ keep: [id] });
    again.send({ type: 'task.completed', taskId: id, token, output: 'done' });
    const { state, attempts } = await until(id, 'completed');
    expect({ token: state.token, spent: state.spent, attempts: attempts.length }).toEqual({ token: 1, spent: 1, attempts: 1 });
  });
});

it("a daemon that names another one's attempt is told to drop it", async () => {
  const { name, daemon } = await running();
  const { token } = await registerDaemon(parts);
  const second = await connect(token, hub, { running: [name], finished: [name] });
  expect(await second.next('hub.welcome')).toMatchObject({ keep: [], drop: [name.taskId], resume: [] });
  daemon.vanish();
});
