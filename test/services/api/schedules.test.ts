import { afterAll, describe, expect, it } from 'vitest';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { announcePlatforms } from '#shared/schedules/platforms.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { driveTasks } from './support/drive-tasks.ts';
import { useApi } from './support/use-api.ts';
import type { Reply } from '../../support/call-api.ts';

const api = await useApi();
afterAll(async () => {
  await api.parts.relay.idle();
});

const post = (body: object, key = api.key): Promise<Reply> =>
  api.call('POST', '/v1/schedules', { body: { agent: 'echo', message: 'do it', ...body }, key });
const FAR = '2060-06-01T12:00:00Z';

describe('POST /v1/schedules', () => {
  it('answers 201 with the complete record', async () => {
    const { status, headers, body } = await post({ phrase: 'every monday at 09:00', tz: 'Europe/Berlin', name: 'weekly' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/schedules/${body.id}`);
    expect(body).toMatchObject({
      number: 1,
      name: 'weekly',
      kind: 'cron',
      rule: '0 9 * * 1',
      tz: 'Europe/Berlin',
      agent: 'echo',
      message: 'do it',
      status: 'active',
      pausedReason: null,
      priority: 10,
      missed: 'once',
      maxLateness: null,
      overlap: 'skip',
      jitter: null,
      lastRunAt: null,
      lastRunId: null,
      runCount: 0,
    });
    expect(body.sentence).toMatch(/Monday/);
    expect(body.next.length).toBe(3);
    expect(body.nextFireAt).toBe(body.next[0]);
    expect((await api.call('GET', `/v1/schedules/${body.id}`)).body).toEqual(body);
    expect((await api.call('GET', '/v1/schedules/1')).body).toEqual(body);
  });

  it('refuses a chat platform until a chat service serves it', async () => {
    const place = { every: '1h', platform: 'slack', channel: 'C1' };
    expect(await post(place)).toMatchObject({ status: 422, body: { code: 'schedule.platform-off' } });
    const { id } = (await post({ every: '1h' })).body;
    expect(await api.call('PATCH', `/v1/schedules/${id}`, { body: { platform: 'slack', channel: 'C1' } })).toMatchObject({ status: 422 });
    const stop = await announcePlatforms(api.parts, ['slack']);
    expect((await post(place)).status).toBe(201);
    expect((await api.call('PATCH', `/v1/schedules/${id}`, { body: { platform: 'slack', channel: 'C1' } })).status).toBe(200);
    stop();
  });

  it('sends results into a session of web chat, where they are turns', async () => {
    expect(await post({ every: '1h', platform: 'webchat' })).toMatchObject({ status: 422 });
    expect(await post({ every: '1h', platform: 'webchat', channel: 'bell\u0007' })).toMatchObject({ status: 422 });
    const { body } = await post({ every: '1h', platform: 'webchat', channel: 'lobby' });
    expect(body).toMatchObject({ platform: 'webchat', channel: 'lobby' });
    const run = (await api.call('POST', `/v1/schedules/${body.id}/run`)).body.id as string;
    await driveTasks(api.parts).complete(run, 'Swept.');
    expect((await api.call('GET', '/v1/sessions/lobby/transcript')).body.items).toMatchObject([{ taskId: run, output: 'Swept.' }]);
  });

  it('creates one schedule under a key, which may be a header', async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = { agent: 'echo', message: 'do it', every: '1h' };
    const send = (more: object = {}): Promise<Reply> => api.call('POST', '/v1/schedules', { body: { ...body, ...more }, headers });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    expect((await post({ every: '1h', idempotencyKey: 'once' })).body.id).toBe(first.body.id);
    expect(await send({ every: '2h' })).toMatchObject({ status: 409, body: { code: 'schedule.idempotency-conflict' } });
  });

  it('names the range of a duration, and refuses a maxLateness below a second', async () => {
    expect((await post({ every: '1h', jitter: '2d' })).body.detail).toContain('from 0s to 1d');
    expect((await post({ every: '1h', maxLateness: 0 })).body.detail).toContain('from 1s to 365d');
  });

  it('accepts durations as text and as milliseconds, and its answers can be sent back', async () => {
    const { body } = await post({ every: '90m', maxLateness: '1.5h', jitter: 90_000, missed: 'all(20)', priority: 'high' });
    expect(body).toMatchObject({ rule: 'every 90m', maxLateness: '90m', jitter: '90s', missed: 'all(20)', priority: 8 });
    const { maxLateness, jitter, missed, rule } = body;
    expect((await api.call('PATCH', `/v1/schedules/${body.id}`, { body: { maxLateness, jitter, missed, every: rule } })).status).toBe(200);
  });

  it.each<[string, object]>([
    ['an unreadable phrase', { phrase: 'now and then' }],
    ['a cron that is none', { cron: '99 * * * *' }],
    ['a time that is past', { at: '2020-01-01T00:00:00Z' }],
    ['no rule', {}],
    ['two rules', { every: '5m', cron: '* * * * *' }],
  ])('answers 422 with the accepted forms for %s', async (_what, request) => {
    const { status, body } = await post(request);
    expect([status, body.code]).toEqual([422, 'schedule.unreadable']);
    expect(body.detail).toMatch(/Accepted forms: .*every/s);
  });

  it.each<[string, object, string]>([
    ['a zone that is none', { every: '5m', tz: 'Mars/Olympus' }, 'schedule.unknown-zone'],
    ['a missing agent', { every: '5m', agent: 'nobody' }, 'agent.unknown'],
    ['a duration that is none', { every: '5m', jitter: 'a while' }, 'request.invalid'],
    ['an end before its first time', { every: '5m', until: '2020-01-01T00:00:00Z' }, 'request.invalid'],
    ['a field that is none', { every: '5m', agnet: 'echo' }, 'request.invalid'],
  ])('answers 422 for %s', async (_what, request, code) => {
    const { status, body } = await post(request);
    expect([status, body.code]).toEqual([422, code]);
  });

  it('answers 200 with the same schedule for a known key, and 409 for another body', async () => {
    const [first, again] = [await post({ every: '7m', idempotencyKey: 'k' }), await post({ every: '7m', idempotencyKey: 'k' })];
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    const conflict = await post({ every: '8m', idempotencyKey: 'k' });
    expect([conflict.status, conflict.body.code]).toEqual([409, 'schedule.idempotency-conflict']);
  });
});

describe('POST /v1/schedules/preview', () => {
  it('answers how a rule is understood, and creates nothing', async () => {
    const before = (await api.call('GET', '/v1/schedules')).body.items.length;
    const request = { phrase: 'every day at 02:30', tz: 'Europe/Berlin', from: '2026-03-28T00:00:00Z', count: 2 };
    const { status, body } = await api.call('POST', '/v1/schedules/preview', { body: request });
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'cron', rule: '30 2 * * *', tz: 'Europe/Berlin' });
    // The clocks skip 02:30 on the 29th.
    expect(body.next).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:30:00.000Z']);
    expect((await api.call('GET', '/v1/schedules')).body.items.length).toBe(before);
  });
});

describe('the schedules of a tenant', () => {
  it('are searched all of them, page by page, and the answer says how far it came', async () => {
    const key = await api.keyOf('searching', ['submit']);
    const names = ['Ünï "quoted"', 'Daily REPORT', ...Array.from({ length: 8 }, (_, n) => `other ${n}`)];
    for (const name of names) await post({ at: FAR, name, message: `the message of ${name}` }, key);
    const search = async (q: string, query = ''): Promise<Reply> =>
      await api.call('GET', `/v1/schedules?q=${encodeURIComponent(q)}${query}`, { key });
    const found = async (q: string): Promise<string[]> => (await search(q)).body.items.map(({ name }: { name: string }) => name);
    expect(await found('daily report')).toEqual(['Daily REPORT']);
    expect(await found('of ünÏ "QUOTED"')).toEqual(['Ünï "quoted"']);
    expect((await found('#2')).concat(await found('once'))).toHaveLength(1 + names.length);
    expect((await search('#2')).body).toMatchObject({ items: [{ number: 2 }], nextCursor: null, search: { searched: 10, total: 10 } });
    const { scheduler } = api.parts.settings;
    const { maxSearched } = scheduler;
    try {
      Object.assign(scheduler, { maxSearched: 4 });
      const pages: Reply[] = [await search('REPORT')];
      while (pages.at(-1)?.body.nextCursor) pages.push(await search('REPORT', `&cursor=${pages.at(-1)?.body.nextCursor}`));
      expect(pages.map(({ body }) => body.search.searched)).toEqual([4, 8, 10]);
      expect(pages.map(({ body }) => body.items.length)).toEqual([0, 0, 1]);
      expect((await api.call('GET', '/v1/schedules?status=paused', { key })).body).toMatchObject({ items: [], nextCursor: '7' });
    } finally {
      Object.assign(scheduler, { maxSearched });
    }
    expect((await api.call('GET', '/v1/schedules', { key })).body.search).toBeUndefined();
  });

  it('are listed by page, newest first, by status and agent, for their tenant only', async () => {
    const key = await api.keyOf('listing', ['submit']);
    const made: Reply[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await post({ at: FAR, name: `${n}` }, key));
    await api.call('PATCH', `/v1/schedules/${made[1]?.body.id}`, { key, body: { status: 'paused' } });
    const names = async (query: string): Promise<[string[], string | null]> => {
      const { body } = await api.call('GET', `/v1/schedules?${query}`, { key });
      return [body.items.map(({ name }: { name: string }) => name), body.nextCursor];
    };
    const [first, cursor] = await names('limit=2');
    expect(first).toEqual(['4', '3']);
    expect(await names(`limit=3&cursor=${cursor}`)).toEqual([['2', '1', '0'], null]);
    expect(await names('status=paused')).toEqual([['1'], null]);
    expect(await names('status=active&agent=hidden')).toEqual([[], null]);
    const other = await api.keyOf('other', ['submit']);
    const id = String(made[0]?.body.id);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/run'],
      ['GET', '/runs'],
    ] as const) {
      const body = method === 'PATCH' ? { body: { status: 'paused' } } : {};
      const { status, body: problem } = await api.call(method, `/v1/schedules/${id}${path}`, { key: other, ...body });
      expect([method, path, status, problem.code]).toEqual([method, path, 404, 'schedule.not-found']);
    }
  });

  it('are paused, resumed, changed and removed', async () => {
    const { body } = await post({ every: '1h' });
    const path = `/v1/schedules/${body.id}`;
    const patch = async (change: object): Promise<Reply['body']> => (await api.call('PATCH', path, { body: change })).body;
    expect(await patch({ status: 'paused' })).toMatchObject({ status: 'paused', pausedReason: 'by request', nextFireAt: null, next: [] });
    expect(await patch({ status: 'active', message: 'new' })).toMatchObject({ status: 'active', pausedReason: null, message: 'new' });
    expect(await patch({ at: FAR })).toMatchObject({ kind: 'once', nextFireAt: '2060-06-01T12:00:00.000Z' });
    expect((await api.call('PATCH', path, { body: { status: 'canceled' } })).status).toBe(422);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('GET', path)).status).toBe(404);
    expect((await api.call('DELETE', path)).status).toBe(404);
  });

  it('get one run per schedule under an Idempotency-Key', async () => {
    const [one, other] = [(await post({ every: '1h', overlap: 'allow' })).body, (await post({ every: '1h' })).body];
    const run = (id: string, key: string): Promise<Reply> =>
      api.call('POST', `/v1/schedules/${id}/run`, { headers: { 'idempotency-key': key } });
    const [first, again, later] = [await run(one.id, 'a'), await run(one.id, 'a'), await run(one.id, 'b')];
    expect([first.status, again.status, later.status]).toEqual([202, 200, 202]);
    expect([again.body.id, later.body.id === first.body.id]).toEqual([first.body.id, false]);
    expect((await run(other.id, 'a')).body.id).not.toBe(first.body.id);
    expect((await api.call('GET', `/v1/schedules/${one.id}`)).body.runCount).toBe(2);
  });

  it('have runs that wait for a retry with the reason', async () => {
    const { body } = await post({ every: '1h' });
    const { id } = (await api.call('POST', `/v1/schedules/${body.id}/run`)).body;
    await driveTasks(api.parts).fail(id, 60_000);
    const { items } = (await api.call('GET', `/v1/schedules/${body.id}/runs`)).body;
    expect(items).toMatchObject([
      { id, status: 'pending', reason: 'the line was cut', completedAt: null, error: { code: 'NETWORK_ERROR' } },
    ]);
  });

  it('have runs with a request id and a trace of their own', async () => {
    const { body, headers } = await post({ at: new Date(Date.now() + 3_600_000).toISOString(), overlap: 'allow' });
    const asked = await api.call('POST', `/v1/schedules/${body.id}/run`);
    const scheduling = openScheduleParts(api.parts);
    await fireDue({ ...scheduling, now: () => Promise.resolve(Date.parse(body.nextFireAt)) }, 0);
    const { items } = (await api.call('GET', `/v1/schedules/${body.id}/runs`)).body;
    expect(items.length).toBe(2);
    const ids = items.map(({ requestId, traceId }: Record<string, string>) => [requestId, traceId]);
    expect(new Set([...ids.flat(), headers.get('x-request-id')]).size).toBe(3);
    const now = items.find(({ id }: { id: string }) => id === asked.body.id);
    expect(now.requestId).toBe(asked.headers.get('x-request-id'));
    const task = (await api.call('GET', `/v1/tasks/${items[0].id}`)).body;
    expect([task.requestId, task.traceId]).toEqual(ids[0]);
    expect(items.map(({ trigger }: { trigger: string }) => trigger).toSorted()).toEqual(['once', 'run-now']);
    expect(task.trigger).toBe(items[0].trigger);
  });

  it('need the scope submit to be created or changed', async () => {
    const reader = await api.keyOf('default', ['read']);
    expect((await post({ every: '1h' }, reader)).status).toBe(403);
    expect((await api.call('GET', '/v1/schedules', { key: reader })).status).toBe(200);
  });
});

describe('runs', () => {
  it('of a schedule and of the tenant are listed with their outcome, newest first', async () => {
    const key = await api.keyOf('running', ['submit']);
    const { body: schedule } = await post({ every: '1s', overlap: 'skip' }, key);
    const drive = driveTasks(api.parts, 'running');
    const runs = async (path: string): Promise<Reply['body'][]> => (await api.call('GET', path, { key })).body.items;
    const path = `/v1/schedules/${schedule.id}/runs`;
    const run = await api.call('POST', `/v1/schedules/${schedule.id}/run`, { key });
    expect([run.status, run.body.status]).toEqual([202, 'queued']);
    expect(await runs(path)).toMatchObject([{ id: run.body.id, scheduleId: schedule.id, status: 'pending', agent: 'echo', reason: null }]);

    const scheduling = openScheduleParts(api.parts);
    const dueAt = Date.parse(schedule.nextFireAt);
    await fireDue({ ...scheduling, now: () => Promise.resolve(dueAt) }, 0);
    expect((await runs(path))[0]).toMatchObject({
      occurrence: schedule.nextFireAt,
      status: 'skipped',
      reason: 'the run before has not ended',
      startedAt: null,
    });
    await drive.complete(run.body.id, 'x'.repeat(600));
    const [, done] = await runs(path);
    expect(done).toMatchObject({ status: 'succeeded', error: null, reason: null });
    expect(done.resultSummary).toBe(`${'x'.repeat(500)} ...`);
    expect(Date.parse(done.completedAt)).toBeGreaterThan(0);

    const failing = (await api.call('POST', `/v1/schedules/${schedule.id}/run`, { key })).body.id;
    await drive.fail(failing, null);
    expect((await runs(path))[0]).toMatchObject({ status: 'failed', reason: 'the line was cut', error: { code: 'NETWORK_ERROR' } });
    expect((await runs('/v1/runs')).map(({ id }) => id)).toEqual((await runs(path)).map(({ id }) => id));
    expect((await runs('/v1/runs?limit=1')).length).toBe(1);
    expect(await runs(`/v1/runs?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
    expect((await runs(`/v1/runs?since=${Math.floor(Date.now() / 1000) - 60}`)).length).toBe(3);
    expect((await api.call('GET', `/v1/schedules/${schedule.id}`, { key })).body).toMatchObject({ runCount: 2, lastRunId: failing });
  });
});

describe('occurrences', () => {
  it('the next one is skipped once, and past ones run once', async () => {
    const key = await api.keyOf('occurring', ['submit']);
    const { body: schedule } = await post({ cron: '* * * * *', overlap: 'allow', exact: true }, key);
    const path = `/v1/schedules/${schedule.id}`;
    const skip = (): Promise<Reply> => api.call('POST', `${path}/skip`, { key, body: { occurrence: schedule.nextFireAt } });
    expect(await skip()).toMatchObject({ status: 200, body: { nextFireAt: schedule.next[1] } });
    expect(await skip()).toMatchObject({ status: 409, body: { code: 'schedule.wrong-state' } });

    const minuteAgo = Math.floor(Date.parse(schedule.createdAt) / 60_000) * 60_000 - 60_000;
    const range = { since: new Date(minuteAgo - 60_000).toISOString(), until: new Date(minuteAgo).toISOString() };
    const backfill = (more: object = {}): Promise<Reply> => api.call('POST', `${path}/backfill`, { key, body: { ...range, ...more } });
    expect(await backfill({ dryRun: true })).toMatchObject({ status: 200, body: { newRuns: 2, items: [{ id: null }, { id: null }] } });
    expect(await backfill()).toMatchObject({
      status: 202,
      body: { newRuns: 2, items: [{ occurrence: range.since }, { occurrence: range.until }] },
    });
    expect((await backfill()).body.newRuns).toBe(0);
    const runs = (await api.call('GET', `${path}/runs`, { key })).body.items as Reply['body'][];
    const backfilled = runs.filter(({ trigger }) => trigger === 'run-now').map(({ occurrence }) => occurrence as string);
    expect(backfilled.toSorted()).toEqual([range.since, range.until]);

    expect((await backfill({ until: new Date(0).toISOString() })).status).toBe(422);
    expect(await backfill({ since: '2020-01-01T00:00:00Z' })).toMatchObject({ status: 422, body: { code: 'schedule.range-too-large' } });
    const other = await api.keyOf('elsewhere', ['submit']);
    expect((await api.call('POST', `${path}/backfill`, { key: other, body: range })).status).toBe(404);
    expect((await api.call('POST', `${path}/skip`, { key: other, body: { occurrence: schedule.next[1] } })).status).toBe(404);
  });
});
