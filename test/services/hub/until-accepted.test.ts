import { afterAll, describe, expect, it } from 'vitest';
import { changeDaemon } from '#shared/daemons/index.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { readState } from '#shared/ledger/index.ts';
import { isTransition } from '#shared/tasks/index.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useApi } from '../api/support/use-api.ts';

const ACCEPT_MS = 20_000;
const api = await useApi({
  agents: { coder: { kind: 'daemon' } },
  hub: { resendMs: 50, sweepMs: 200, graceMs: 60_000, acceptMs: ACCEPT_MS },
});
const { parts } = api;
await useWorker(parts);
const hub = await startHub(parts);
const other = await startHub(parts);
afterAll(() => Promise.all([hub.stop(), other.stop()]));

interface Given {
  id: string;
  name: { taskId: string; token: number };
  daemon: RawDaemon;
  daemonId: string;
  capability: string;
  secret: string;
}

const connect = async (capability: string, secret: string): Promise<RawDaemon> => {
  const daemon = await RawDaemon.welcomed(hub.url, secret, { capabilities: [capability] });
  daemon.send({ type: 'daemon.heartbeat', load: 0 });
  return daemon;
};

let count = 0;

/** A task that was sent to a daemon of its own, which has not accepted it. */
async function given(wish: object = {}): Promise<Given> {
  count += 1;
  const capability = `only-${count}`;
  const { id: daemonId, token: secret } = await registerDaemon(parts, { name: `laptop ${count}` });
  const daemon = await connect(capability, secret);
  const task = { agent: 'coder', input: 'write it', requirements: { capabilities: [capability] }, ...wish };
  const { id } = (await api.call('POST', '/v1/tasks', { body: task })).body;
  const { token } = await daemon.next('task.execute');
  return { id, name: { taskId: id, token }, daemon, daemonId, capability, secret };
}

// oxlint-disable-next-line typescript/no-explicit-any -- a missing field fails the test
const get = async (path: string): Promise<any> => (await api.call('GET', path)).body;

const reaches = async (id: string, status: string): Promise<Record<string, unknown>> =>
  await waitFor(
    async () => {
      const task = await get(`/v1/tasks/${id}`);
      return task.status === status && task;
    },
    { deadlineMs: 10_000, what: `the task to be ${status}` },
  );

/** Its timeline, each step of which is in the table. */
async function pathOf(id: string): Promise<string[]> {
  const { items } = await get(`/v1/tasks/${id}/timeline`);
  const path = items.map(({ status }: { status: string }) => status);
  for (const [at, to] of path.slice(1).entries()) expect([path[at], to, isTransition(path[at], to)]).toEqual([path[at], to, true]);
  return path;
}

const BEGUN = ['pending', 'queued', 'scheduled', 'running'];

/** Ids of the tasks of a list. */
const listed = async (query: string): Promise<string[]> => (await get(`/v1/tasks?${query}`)).items.map(({ id }: { id: string }) => id);

/** What the tenant's stream has of a task. */
async function eventsOf(id: string): Promise<string[]> {
  const entries = await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+');
  return entries.flatMap(([, fields]) => (fields.includes(id) ? [String(fields[1])] : []));
}

/** What has come of a task's stream, until it has this. */
async function openStream(id: string): Promise<(text: string) => Promise<string>> {
  const response = await fetch(`${api.url}/v1/tasks/${id}/stream`, { headers: { authorization: `Bearer ${api.key}` } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let read = '';
  return async (text) => {
    while (!read.includes(text)) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) throw new Error(`The stream ended without ${text}: ${read}`);
      read += value;
    }
    return read;
  };
}

describe('until its daemon accepts it, a task', () => {
  it('is scheduled everywhere, with a reason that names the daemon, and runs from that moment on', async () => {
    const { id, name, daemon, daemonId } = await given({ session: 'waits' });
    const task = await get(`/v1/tasks/${id}`);
    expect(task).toMatchObject({ status: 'scheduled', gate: 'daemon', startedAt: null, attempt: 1 });
    expect(task.scheduledAt).toEqual(expect.any(String));
    expect(task.worker).toEqual(expect.any(String));
    expect(await pathOf(id)).toEqual(['pending', 'queued', 'scheduled']);
    const until = new Date(Date.parse(task.scheduledAt) + ACCEPT_MS).toISOString();
    expect(await get(`/v1/tasks/${id}/why`)).toMatchObject({
      status: 'scheduled',
      reasons: [{ gate: 'daemon', detail: `the daemon "laptop ${count}" has not accepted it yet`, since: task.scheduledAt, until }],
    });
    expect((await get(`/v1/tasks/${id}/attempts`)).items).toMatchObject([{ number: 1, daemon: daemonId, daemonName: `laptop ${count}` }]);
    expect([await listed('status=scheduled'), await listed('status=running')]).toEqual([[id], []]);
    expect((await get('/v1/tasks/facets?session=waits')).status).toMatchObject([{ value: 'scheduled', count: 1 }]);
    expect((await get('/v1/sessions/waits')).holder).toMatchObject({ taskId: id, startedAt: null, worker: task.worker });
    expect(await eventsOf(id)).toEqual(['task.created', 'task.queued', 'task.scheduled']);

    const streamed = await openStream(id);
    expect(await streamed('"scheduled"')).not.toContain('"running"');

    daemon.send({ type: 'task.accepted', ...name });
    const running = await reaches(id, 'running');
    expect(Date.parse(String(running['startedAt']))).toBeGreaterThanOrEqual(Date.parse(task.scheduledAt));
    expect(running).toMatchObject({ scheduledAt: task.scheduledAt, gate: null, worker: task.worker });
    expect((await get(`/v1/tasks/${id}/timeline`)).items.at(-1)).toMatchObject({ status: 'running', at: running['startedAt'] });
    expect((await get(`/v1/tasks/${id}/why`)).reasons).toEqual([]);
    expect((await get(`/v1/tasks/${id}/attempts`)).items).toMatchObject([{ number: 1, startedAt: running['startedAt'] }]);
    expect([await listed('status=scheduled'), await listed('status=running')]).toEqual([[], [id]]);
    expect((await get('/v1/sessions/waits')).holder).toMatchObject({ taskId: id, startedAt: running['startedAt'] });
    expect((await eventsOf(id)).slice(-2)).toEqual(['task.scheduled', 'task.started']);
    const statuses = [...(await streamed('"running"')).matchAll(/"status":"(\w+)"/g)].map(([, status]) => status);
    expect(statuses).toEqual(['scheduled', 'running']);
    daemon.send({ type: 'task.accepted', ...name });
    daemon.send({ type: 'task.completed', ...name, output: 'done' });
    await reaches(id, 'completed');
    expect(await pathOf(id)).toEqual([...BEGUN, 'completed']);
    daemon.vanish();
  });

  it('has all of its timeout left', async () => {
    const { id, name, daemon } = await given({ execution: { timeoutMs: 10, maxAttempts: 1 } });
    // It is sent again after longer than that.
    for (let sent = 0; sent < 2; sent += 1) await daemon.next('task.execute');
    expect((await get(`/v1/tasks/${id}`)).status).toBe('scheduled');
    daemon.send({ type: 'task.accepted', ...name });
    expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: 'timeout' });
    daemon.send({ type: 'task.failed', ...name, error: { code: 'CANCELLED' } });
    await reaches(id, 'permanently_failed');
    expect(await pathOf(id)).toEqual([...BEGUN, 'timeout', 'permanently_failed']);
    daemon.vanish();
  });

  it('can be cancelled, and never ran then', async () => {
    const { id, name, daemon } = await given();
    await api.call('POST', `/v1/tasks/${id}/cancel`, { body: { reason: 'enough' } });
    expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: 'enough' });
    expect(await reaches(id, 'cancelled')).toMatchObject({ startedAt: null });
    expect(await pathOf(id)).toEqual(['pending', 'queued', 'scheduled', 'cancelled']);
    daemon.vanish();
  });

  it.each([
    ['completed', { type: 'task.completed', output: 'done' }, ['completed']],
    ['failed', { type: 'task.failed', error: { code: 'AGENT_ERROR', retryable: false } }, ['failed', 'permanently_failed']],
  ] as const)('counts as accepted by a result: %s', async (_, result, end) => {
    const { id, name, daemon } = await given();
    daemon.send({ ...name, ...result });
    await reaches(id, end.at(-1) ?? '');
    expect(await pathOf(id)).toEqual([...BEGUN, ...end]);
    daemon.vanish();
  });

  it.each([
    ['the same hub', hub],
    ['another hub', other],
  ])('counts as accepted when the daemon names it in its next hello, at %s', async (_, at) => {
    const { id, name, daemon, secret } = await given();
    daemon.vanish();
    const again = await RawDaemon.welcomed(at.url, secret, { running: [name] });
    await reaches(id, 'running');
    again.send({ type: 'task.completed', ...name, output: 'done' });
    await reaches(id, 'completed');
    expect(await pathOf(id)).toEqual([...BEGUN, 'completed']);
    again.vanish();
  });

  it('goes back to the queue when its hub is lost, at no cost, and its daemon is told to drop it', async () => {
    const { id, name, daemon, secret, capability } = await given();
    daemon.vanish();
    // As after a kill of the hub, whose lease runs out.
    const ref = { tenant: 'default', id, token: name.token, lane: null };
    expect(await expireLease(parts.ledger, ref, { blame: 'cleared', isGone: true })).toBe('requeued');
    expect((await pathOf(id)).slice(0, 4)).toEqual(['pending', 'queued', 'scheduled', 'queued']);
    expect(await readState(parts.ledger, 'default', id)).toMatchObject({ spent: 0 });
    const again = await RawDaemon.connect(other.url, secret);
    again.hello({ capabilities: [capability], running: [name] });
    expect(await again.next('hub.welcome')).toMatchObject({ keep: [], drop: [id] });
    again.send({ type: 'daemon.heartbeat', load: 0 });
    const { token } = await again.accept();
    expect(token).toBeGreaterThan(name.token);
    again.send({ type: 'task.completed', taskId: id, token, output: 'done' });
    await reaches(id, 'completed');
    again.vanish();
  });
});

it('a daemon that is disabled while it is away loses its task to another at once', async () => {
  const { id, name, daemon, daemonId, capability } = await given();
  daemon.send({ type: 'task.accepted', ...name });
  await reaches(id, 'running');
  daemon.vanish();
  await waitFor(async () => (await get(`/v1/daemons/${daemonId}`)).status === 'offline', { deadlineMs: 10_000, what: 'its end' });
  await changeDaemon(parts, { tenant: 'default', id: daemonId }, { enabled: false });
  const second = await connect(capability, (await registerDaemon(parts)).token);
  const { token } = await second.accept();
  expect(token).toBeGreaterThan(name.token);
  second.send({ type: 'task.completed', taskId: id, token, output: 'done' });
  await reaches(id, 'completed');
  second.vanish();
});

it('a hello without a slot is refused, with what was expected', async () => {
  const daemon = await RawDaemon.connect(hub.url, (await registerDaemon(parts)).token);
  daemon.hello({ slots: 0 });
  expect(await daemon.next('error')).toMatchObject({
    code: 'message.invalid',
    message: 'daemon.hello: slots: expected how many tasks it may run at once, from 1 to 10000',
  });
  // It may say it again.
  daemon.hello();
  await daemon.next('hub.welcome');
  daemon.vanish();
});
