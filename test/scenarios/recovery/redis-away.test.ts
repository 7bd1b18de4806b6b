import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { startRedisProxy, type RedisProxy } from '../../support/fleet/redis-proxy.ts';
import { firstOf } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Reply } from '../../support/call-api.ts';

let fleet: Fleet;
let api: ServiceProcess;
let proxy: RedisProxy | undefined;

beforeEach(async () => {
  fleet = await openFleet();
});
afterEach(async () => {
  await fleet.redis.kill('SIGCONT');
  await fleet.stop();
  await proxy?.close();
  proxy = undefined;
});

/** Producers promise 2 s, which is reported; one that waits for Redis to come back never answers. */
const ANSWER_MS = 10_000;
const echo = { agent: 'echo', input: 'hello' };

describe.each(firstOf(['SIGKILL', 'SIGSTOP'] as const))('while Redis is away by %s', (signal) => {
  it('producers say so instead of waiting for it, workers wait, and all of it works within seconds of its return', async () => {
    api = await fleet.start('api');
    const [webhooks, worker, dashboard] = await Promise.all([fleet.start('webhooks'), fleet.start('worker'), fleet.start('dashboard')]);
    const made = await fleet.client.call('POST', '/v1/hooks', { url: webhooks.url, body: { provider: 'none', agent: 'echo' } });
    const hook = `/hooks/${made.body.id}`;
    const before = await fleet.client.submit({ context: { workMs: [500] } });
    await fleet.client.reaches(before, ['running']);

    await fleet.redis.kill(signal);
    const producers = (): Promise<Reply[]> =>
      Promise.all([
        fleet.client.call('POST', '/v1/tasks', { body: echo }),
        fleet.client.call('POST', hook, { url: webhooks.url, key: null, body: { any: 'thing' } }),
      ]);
    const answers = [...(await producers()), ...(await producers())];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [503, 'unavailable.redis']));
    for (const { ms, headers } of answers) {
      expect(ms).toBeLessThan(ANSWER_MS);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    reportFigure(`Redis away by ${signal}: producers say so after`, spread(answers.map(({ ms }) => ms)));
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const signIn = await fleet.client.call('POST', '/sign-in', { url: dashboard.url, key: null, headers: form, body: 'key=mk_any' });
    expect([signIn.status, signIn.ms < ANSWER_MS]).toEqual([503, true]);
    const services = [api, webhooks, worker, dashboard];
    const probe = (path: string): Promise<Reply[]> =>
      Promise.all(services.map(({ url }) => fleet.client.call('GET', path, { url, key: null })));
    const ready = await probe('/readyz');
    expect(ready.map(({ status, ms }) => [status, ms < ANSWER_MS])).toEqual(services.map(() => [503, true]));
    expect((await probe('/healthz')).map(({ status }) => status)).toEqual(services.map(() => 200));

    const backFrom = performance.now();
    await (signal === 'SIGSTOP' ? fleet.redis.kill('SIGCONT') : fleet.redis.restart());
    const id = await waitFor(() => fleet.client.submit(echo).catch(() => null), {
      deadlineMs: 20_000,
      everyMs: 50,
      what: 'a task to be accepted',
    });
    const acceptedMs = performance.now() - backFrom;
    expect(await fleet.client.ended([id, before], 20_000)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    const figure = `accepts after ${Math.round(acceptedMs)} ms, has run a task after ${Math.round(performance.now() - backFrom)} ms`;
    reportFigure(`Redis back after ${signal}`, figure);
    const areReady = async (): Promise<boolean> => (await probe('/readyz')).every(({ status }) => status === 200);
    await waitFor(areReady, { deadlineMs: 20_000, everyMs: 50, what: 'every service to be ready' });
  });
});

describe('a worker', () => {
  it('that starts before Redis takes work once it is there, and one that ends while Redis is away still ends in time', async () => {
    await fleet.start('api');
    const id = await fleet.client.submit({ context: { workMs: [60_000, 0] } });
    await fleet.redis.kill();
    const early = await fleet.start('worker', { SHUTDOWN_GRACE_MS: '2000' });
    await fleet.redis.restart();
    await waitFor(() => fleet.journal().length > 0, { deadlineMs: 20_000, what: 'the early worker to take the task' });
    await fleet.redis.kill();
    await early.kill('SIGTERM');
    const from = performance.now();
    expect((await early.exited).signal).toBeNull();
    reportFigure('SIGTERM while Redis is away', `gone after ${Math.round(performance.now() - from)} ms with a grace of 2 s`);
    await fleet.redis.restart();
    await fleet.start('worker');
    expect(await fleet.client.ended([id], 20_000)).toMatchObject([{ status: 'completed' }]);
  });
});

describe('a producer whose reply from Redis was lost', () => {
  it('makes one task when the caller sends it again under its key', async () => {
    proxy = await startRedisProxy(fleet.redis.port);
    api = await fleet.start('api', { REDIS_URL: proxy.url });
    await fleet.start('worker');
    const submit = (body: unknown, key: string): Promise<Reply> =>
      fleet.client.call('POST', '/v1/tasks', { body, headers: { 'idempotency-key': key } });
    // The server does not know a script before its first run, and would only say so.
    const first = await submit({ agent: 'echo', input: 'before' }, 'order-0');
    await fleet.client.ended([first.body.id], 10_000);
    const body = { agent: 'work', input: 'the one input' };
    const send = (): Promise<Reply> => submit(body, 'order-1');
    proxy.loseAnswerTo((sent) => sent.includes(body.input));
    const lost = await send();
    expect([lost.status, lost.body.code]).toEqual([503, 'unavailable.redis']);
    proxy.repair();
    const again = await waitFor(async () => [await send()].find(({ status }) => status !== 503), { deadlineMs: 20_000, what: 'an answer' });
    expect(again.status).toBe(200);
    await fleet.client.ended([again.body.id], 20_000);
    expect((await fleet.client.call('GET', '/v1/tasks')).body.items).toHaveLength(2);
    expect(fleet.journal().map(({ event }) => event)).toEqual(['start', 'end']);
  });
});
