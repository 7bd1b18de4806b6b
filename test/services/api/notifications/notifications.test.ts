import { describe, expect, it } from 'vitest';
import { newestTenantEvent, publishFleetEvent } from '#shared/events/tenant-events.ts';
import { updatePressure } from '#shared/ledger/tenants/depth.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { readNotifications } from '../support/read-notifications.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({
  events: { pollMs: 100 },
  http: { streamCheckMs: 100 },
  scheduler: { resultSummaryChars: 20 },
  limits: { backpressure: { warningDepth: 10, criticalDepth: 20 } },
});
const drive = driveTasks(api.parts);

interface Made {
  id: string;
  number: number;
}

async function schedule(key = api.key): Promise<Made> {
  const { body } = await api.call('POST', '/v1/schedules', {
    key,
    body: { every: '1h', agent: 'echo', name: 'the round', message: 'look at it' },
  });
  return body as Made;
}

async function run(id: string): Promise<string> {
  return (await api.call('POST', `/v1/schedules/${id}/run`)).body.id as string;
}

async function submit(tenant = 'default'): Promise<string> {
  return (await acceptTask(api.parts, { tenant, agent: 'echo', input: 'hello' })).id;
}

/** How often Redis was read by scripts and ranges. */
async function commandCalls(redis: RedisClient): Promise<number> {
  const info = await redis.info('commandstats');
  return ['evalsha', 'hmget', 'xrange', 'zmscore'].reduce(
    (sum, name) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0),
    0,
  );
}

describe('the stream of notifications', () => {
  it('opens, and reports how runs end', async () => {
    const reader = await readNotifications(api, { kinds: 'run.*' });
    expect(reader.events[0]).toMatchObject({ event: 'open', data: '{"ok":true}' });
    const { id: scheduleId, number } = await schedule();
    const good = await run(scheduleId);
    await drive.complete(good, 'All is well, and there is more to say.');
    const bad = await run(scheduleId);
    await drive.fail(bad, null);
    await reader.waitFor({ kind: 'run.failed' });
    const known = {
      scheduleId,
      number,
      name: 'the round',
      agent: 'echo',
      session: null,
      source: 'schedule',
      attempt: 1,
      at: expect.any(String),
      startedAt: expect.any(String),
      occurrence: expect.any(String),
    };
    expect(reader.received()).toEqual([
      { kind: 'run.started', runId: good, taskId: good, status: 'running', completedAt: null, ...known },
      {
        kind: 'run.completed',
        runId: good,
        taskId: good,
        status: 'succeeded',
        completedAt: expect.any(String),
        reason: null,
        resultSummary: 'All is well, and the ...',
        inputTokens: null,
        outputTokens: null,
        ...known,
      },
      { kind: 'run.started', runId: bad, taskId: bad, status: 'running', completedAt: null, ...known },
      {
        kind: 'run.failed',
        runId: bad,
        taskId: bad,
        status: 'failed',
        completedAt: expect.any(String),
        reason: 'the line was cut',
        error: { code: 'NETWORK_ERROR', message: 'the line was cut' },
        code: 'NETWORK_ERROR',
        willRetry: false,
        ...known,
      },
    ]);
    await reader.leave();
  });

  it('reports a skipped occurrence with its reason', async () => {
    const reader = await readNotifications(api);
    const { id: scheduleId } = await schedule();
    const skip = { reason: 'the run before has not ended' };
    const { id } = await acceptTask(api.parts, { tenant: 'default', agent: 'echo', input: 'x', source: 'schedule', scheduleId, skip });
    const notification = await reader.waitFor({ kind: 'run.skipped', runId: id });
    expect(notification).toMatchObject({ scheduleId, status: 'skipped', reason: skip.reason, startedAt: null });
    await reader.leave();
  });

  it('reports runs and schedules by default, and not each step of each task', async () => {
    const reader = await readNotifications(api);
    await drive.complete(await submit(), 'done');
    const { id: scheduleId } = await schedule();
    await api.call('PATCH', `/v1/schedules/${scheduleId}`, { body: { status: 'paused' } });
    await reader.waitFor({ kind: 'schedule.paused', scheduleId, reason: 'by request' });
    expect(reader.kinds()).toEqual(['schedule.created', 'schedule.paused']);
    await reader.leave();
  });

  it('reports the requested kinds, by name and by beginning', async () => {
    const reader = await readNotifications(api, { kinds: 'task.completed, schedule.*' });
    const all = await readNotifications(api, { kinds: '*' });
    const id = await submit();
    await drive.complete(id, 'done');
    const { id: scheduleId } = await schedule();
    await reader.waitFor({ kind: 'schedule.created', scheduleId });
    expect(reader.received()[0]).toMatchObject({ kind: 'task.completed', at: expect.any(String), taskId: id });
    expect(reader.kinds()).toEqual(['task.completed', 'schedule.created']);
    await all.waitFor({ kind: 'schedule.created', scheduleId });
    expect(all.kinds()).toEqual(['task.created', 'task.queued', 'task.started', 'task.completed', 'schedule.created']);
    await Promise.all([reader.leave(), all.leave()]);
  });

  it('names each task, and of each failure the attempt, the code and whether it is retried', async () => {
    const reader = await readNotifications(api, { kinds: 'task.*' });
    const { id } = await acceptTask(api.parts, { tenant: 'default', agent: 'echo', session: 'room/1', input: 'x'.repeat(10_000) });
    await drive.fail(id, 0);
    await drive.fail(id, null);
    await reader.waitFor({ kind: 'task.permanently_failed' });
    const subject = { taskId: id, agent: 'echo', session: 'room/1', source: 'api', scheduleId: null, number: null, name: null };
    const failure = { code: 'NETWORK_ERROR', attempt: 2, willRetry: false };
    const expected = [
      ['task.created'],
      ['task.queued'],
      ['task.started', { attempt: 1 }],
      ['task.failed', { ...failure, attempt: 1, willRetry: true }],
      ['task.started', { attempt: 2 }],
      ['task.failed', failure],
      ['task.permanently_failed', failure],
    ] as const;
    expect(reader.received()).toEqual(expected.map(([kind, more]) => Object.assign({ kind, at: expect.any(String) }, subject, more)));
    await reader.leave();
  });

  it('reports a task that failed for good by default', async () => {
    const reader = await readNotifications(api);
    const id = await submit();
    await drive.fail(id, null);
    await reader.waitFor({ kind: 'task.permanently_failed', taskId: id, code: 'NETWORK_ERROR' });
    expect(reader.kinds()).toEqual(['task.permanently_failed']);
    await reader.leave();
  });

  it('names the schedule, also a deleted one', async () => {
    const reader = await readNotifications(api);
    const { id: scheduleId, number } = await schedule();
    await api.call('DELETE', `/v1/schedules/${scheduleId}`);
    const notification = await reader.waitFor({ kind: 'schedule.canceled', scheduleId });
    expect(notification).toMatchObject({ number, name: 'the round', agent: 'echo', session: null, reason: null });
    await reader.leave();
  });

  it('reads only the requested kinds of a busy tenant, in as many calls for many tasks as for one', async () => {
    const key = await api.keyOf('busy', ['read']);
    const calls = async (count: number): Promise<number> => {
      const entry = await newestTenantEvent(api.parts, 'busy');
      await Promise.all(Array.from({ length: count }, () => submit('busy')));
      const { redis } = api.parts;
      // Tickets are added after the answers, and each is a script too.
      let before = -1;
      await waitFor(async () => before === (before = await commandCalls(redis)), {
        deadlineMs: 5000,
        everyMs: 50,
        what: 'Redis to be quiet',
      });
      const reader = await readNotifications(api, { key, kinds: 'task.created', lastEventId: entry });
      await waitFor(() => reader.kinds().length === count, { deadlineMs: 5000, what: `${count} notifications` });
      await reader.leave();
      return (await commandCalls(redis)) - before;
    };
    const [one, many] = [await calls(1), await calls(8)];
    expect(many).toBeLessThanOrEqual(one + 2);
  });

  it('refuses kinds that there are not, and places that are none of its own', async () => {
    for (const kinds of ['tasks', 'task', 'run.', 'jobs.*', '', 'task.*.x', Array(60).fill('run.*').join(',')]) {
      const { status, body } = await api.call('GET', `/v1/notifications/stream?kinds=${encodeURIComponent(kinds)}`);
      expect([kinds, status, body.code]).toEqual([kinds, 422, 'request.invalid']);
    }
    for (const place of ['yesterday', '99999999999999999999-1', '1-0.']) {
      const headers = { 'last-event-id': place };
      expect((await api.call('GET', '/v1/notifications/stream', { headers })).status).toBe(422);
    }
  });

  it('reports each change of pressure once', async () => {
    const reader = await readNotifications(api, { kinds: 'backpressure.*' });
    const { live } = api.parts.keys.tenant('default');
    const before = await api.parts.redis.zcard(live);
    const fill = (count: number): Promise<number> =>
      api.parts.redis.zadd(live, ...Array.from({ length: count }, (_, place) => [0, `failed/filler-${place}`]).flat());
    const leave = async (count: number): Promise<void> => {
      const fillers = (await api.parts.redis.zrangebylex(live, '[failed/filler-', '(failed/filler-\u00FF')).slice(count);
      await api.parts.redis.zrem(live, ...fillers);
    };
    await fill(10 - before);
    const first = await submit();
    await reader.waitFor({ kind: 'backpressure.warning' });
    await submit();
    await updatePressure(api.parts.ledger, 'default');
    await fill(21);
    await submit();
    await reader.waitFor({ kind: 'backpressure.critical' });
    // Not yet below nine tenths of it.
    await leave(15);
    await updatePressure(api.parts.ledger, 'default');
    await leave(8);
    await updatePressure(api.parts.ledger, 'default');
    await leave(0);
    await drive.complete(first, 'done');
    expect(await updatePressure(api.parts.ledger, 'default')).toMatchObject({ level: 'none' });
    await reader.waitFor({ kind: 'backpressure.cleared' });
    expect(reader.received()).toMatchObject([
      { kind: 'backpressure.warning', queueDepth: 11 },
      { kind: 'backpressure.critical', queueDepth: expect.any(Number) },
      { kind: 'backpressure.warning' },
      { kind: 'backpressure.cleared' },
    ]);
    await reader.leave();
  });
});

describe('who receives what', () => {
  it('is the tenant’s own alone', async () => {
    const other = await readNotifications(api, { key: await api.keyOf('other', ['read']), kinds: '*' });
    const ours = await readNotifications(api, { kinds: '*' });
    const { id: scheduleId } = await schedule();
    await drive.complete(await submit(), 'a secret');
    await drive.complete(await run(scheduleId), 'another');
    await ours.waitFor({ kind: 'run.completed', scheduleId });
    const theirs = await submit('other');
    await other.waitFor({ kind: 'task.created', taskId: theirs });
    await ours.waitFor({ kind: 'task.completed' });
    expect(other.kinds()).toEqual(['task.created', 'task.queued']);
    expect(JSON.stringify(ours.received())).not.toContain(theirs);
    await Promise.all([other.leave(), ours.leave()]);
  });

  it('is nothing for a visitor', async () => {
    const { body } = await api.call('POST', '/v1/sessions/hall/visitors', { body: {} });
    expect((await api.call('GET', '/v1/notifications/stream', { key: body.token })).body.code).toBe('auth.forbidden');
    expect((await api.call('GET', '/v1/notifications/stream', { key: null })).status).toBe(401);
  });

  it('is the fleet for its operators only', async () => {
    const look = await api.keyOf('default', ['read']);
    const outsider = await api.keyOf('other', ['admin']);
    const operator = await readNotifications(api, { key: await api.keyOf('default', ['operate']) });
    const reader = await readNotifications(api, { key: look, kinds: '*' });
    const { parts } = api;
    const fleet = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings };
    await publishFleetEvent(fleet, { event: 'worker.started', worker: 'w-1' });
    await publishFleetEvent(fleet, { event: 'worker.lost', worker: 'w-2' });
    await publishFleetEvent(fleet, { event: 'worker.lost', worker: 'w-2' });
    await publishFleetEvent(fleet, { event: 'worker.stopped', worker: 'w-1' });
    await operator.waitFor({ kind: 'fleet.worker.stopped' });
    expect(operator.received().map(({ kind, worker }) => [kind, worker])).toEqual([
      ['fleet.worker.started', 'w-1'],
      ['fleet.worker.lost', 'w-2'],
      ['fleet.worker.stopped', 'w-1'],
    ]);
    await reader.waitFor({ kind: 'task.created', taskId: await submit() });
    expect(JSON.stringify(reader.received())).not.toContain('fleet');
    for (const key of [look, outsider])
      expect((await api.call('GET', '/v1/notifications/stream?kinds=fleet.*', { key })).body.code).toBe('auth.forbidden');
    await Promise.all([operator.leave(), reader.leave()]);
  });

  it('is nothing any more once the tenant is disabled', async () => {
    await api.call('POST', '/v1/tenants', { body: { id: 'closing', name: 'Closing' } });
    const reader = await readNotifications(api, { key: await api.keyOf('closing', ['read']) });
    expect((await api.call('PATCH', '/v1/tenants/closing', { body: { disabled: true } })).status).toBe(200);
    await reader.ended;
  });
});
