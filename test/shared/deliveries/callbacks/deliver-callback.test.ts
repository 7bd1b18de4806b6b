import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGuardedFetch } from '#shared/agents/guarded-fetch.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { listEndpoints } from '#shared/deliveries/callbacks/callback-records.ts';
import { readCallbackSecrets, rotateCallbackSecret } from '#shared/deliveries/callbacks/callback-secrets.ts';
import { CallbackSlots } from '#shared/deliveries/callbacks/deliver-callback.ts';
import { putDelivery, readDelivery } from '#shared/deliveries/delivery-store.ts';
import type { DeliveryContext } from '#shared/deliveries/held-delivery.ts';
import { handleDelivery } from '#shared/deliveries/handle-delivery.ts';
import { openDelivery, retryDelivery } from '#shared/deliveries/open-delivery.ts';
import { TypingSigns } from '#shared/deliveries/replies/chat-port.ts';
import { WaitingRoom } from '#shared/deliveries/waiting-room.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import type { DeliveryEnd } from '#shared/queue/workers/delivery-worker.ts';
import { systemClock } from '#shared/time/clock.ts';
import { startFakeHttpEndpoint, type FakeHttpEndpoint, type ReceivedRequest } from '../../../support/fake-http-endpoint.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { DeliveryFleet, TENANT } from '../delivery-fleet.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LOOPBACK = ['127.0.0.0/8'];

let fleet: DeliveryFleet;
let endpoint: FakeHttpEndpoint;
/** What the endpoint answers, in order; 200 when there is no more. */
let answers: (number | ((response: ServerResponse) => void))[];

beforeEach(async () => {
  answers = [];
  endpoint = await startFakeHttpEndpoint((response) => {
    const answer = answers.shift() ?? 200;
    if (typeof answer === 'function') answer(response);
    else response.writeHead(answer).end('thanks');
  });
});
afterEach(async () => {
  await fleet.close();
  await endpoint.close();
});

const open = async (settings: SettingsInput = {}): Promise<void> => {
  fleet = await DeliveryFleet.open({ outbound: { allowNetworks: LOOPBACK }, ...settings });
};
const accepted = async (path = '/hook', tenant = TENANT): Promise<string> => {
  const { id } = await acceptTask(fleet.parts, { tenant, agent: 'echo', input: 'hello', callbackUrl: `${endpoint.url}${path}` });
  return id;
};
const ended = async (path = '/hook'): Promise<string> => {
  const id = await accepted(path);
  await fleet.drive.complete(id, 'All done');
  return id;
};
const verified = async ({ body, headers }: ReceivedRequest, secret?: string): Promise<Record<string, unknown>> => {
  const used = secret ?? (await readCallbackSecrets(fleet.parts.ledger, TENANT, Date.now())).secret;
  return new Webhook(used).verify(body, headers as Record<string, string>) as Record<string, unknown>;
};

describe('a callback', () => {
  it('brings the public record of the ended task, signed by Standard Webhooks', async () => {
    await open();
    fleet.start();
    const id = await ended();
    const delivery = await fleet.becomes(id, 'delivered', 'callback');
    const [request] = endpoint.requests;
    expect(endpoint.requests).toHaveLength(1);
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': delivery.id });
    expect(await verified(request!)).toMatchObject({ id, tenant: TENANT, status: 'completed', output: 'All done' });
    expect(delivery).toMatchObject({ id: `${id}-callback`, platform: null, parts: [], attempts: 1, error: null });
  });

  it('brings each question of a run when it is asked, and the end after them', async () => {
    await open();
    fleet.start();
    const id = await accepted();
    const first = await fleet.asks(id, 'Ship?', { choices: ['yes', 'no'] });
    await fleet.becomes(id, 'delivered', 'question');
    const asked = { taskId: id, status: 'open', question: 'Ship?', choices: ['yes', 'no'], answeredBy: null, expiresAt: null };
    expect(await verified(endpoint.requests[0]!)).toEqual({
      event: 'question',
      question: expect.objectContaining({ id: first, ...asked }),
    });
    await fleet.answer(first, 'yes');
    const second = await fleet.asks(id, 'Where to?', { seq: 3 });
    await waitFor(() => endpoint.requests.length === 2, { deadlineMs: 8000, what: 'the second question' });
    expect(await verified(endpoint.requests[1]!)).toMatchObject({ question: { id: second, choices: null } });
    await fleet.answer(second, 'Rome');
    await fleet.drive.complete(id, 'All done');
    await fleet.becomes(id, 'delivered', 'callback');
    expect(await verified(endpoint.requests[2]!)).toMatchObject({ id, status: 'completed' });
    const ids = endpoint.requests.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([`${id}-question`, `${id}-question-1`, `${id}-callback`]);
  });

  it('is tried again with the same id until the endpoint takes it', async () => {
    await open({ deliveries: { callbacks: { retryMs: [10, 10, 10] } } });
    answers = [500, 503];
    fleet.start();
    const id = await ended();
    const delivery = await fleet.becomes(id, 'delivered', 'callback');
    expect(delivery.attempts).toBe(3);
    expect(new Set(endpoint.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery.id]));
    expect(await listEndpoints(fleet.parts.ledger, TENANT)).toEqual([]);
  });

  it('to an endpoint that is gone for good is made once', async () => {
    await open({ deliveries: { callbacks: { retryMs: [10, 10] } } });
    answers = [410];
    fleet.start();
    const delivery = await fleet.becomes(await ended(), 'failed', 'callback');
    expect(delivery.error).toEqual({ code: 'http-410', message: 'The endpoint answered with 410' });
    await fleet.becomes(await ended('/next'), 'delivered', 'callback');
    expect(endpoint.requests.map(({ path }) => path)).toEqual(['/hook', '/next']);
  });

  it('follows no redirect', async () => {
    await open({ deliveries: { callbacks: { retryMs: [] } } });
    answers = [(response) => response.writeHead(302, { location: `${endpoint.url}/elsewhere` }).end()];
    fleet.start();
    const delivery = await fleet.becomes(await ended(), 'failed', 'callback');
    expect([delivery.error?.code, endpoint.requests.length]).toEqual(['http-302', 1]);
  });

  it('does not wait for an endpoint that never answers', async () => {
    await open({ deliveries: { callbacks: { retryMs: [], timeoutMs: 60 } } });
    answers = [() => undefined];
    fleet.start();
    expect((await fleet.becomes(await ended(), 'failed', 'callback')).error?.code).toBe('timeout');
  });

  it('reaches no address that is not public, unless its network is allowed', async () => {
    await open({ outbound: { allowNetworks: [] } });
    fleet.start();
    const delivery = await fleet.becomes(await ended(), 'failed', 'callback');
    expect([delivery.error?.code, delivery.attempts, endpoint.requests]).toEqual(['address', 1, []]);
  });

  it('is signed with the secret before a change, too, for a while', async () => {
    await open();
    const { secret: before } = await readCallbackSecrets(fleet.parts.ledger, TENANT, Date.now());
    const { secret: after } = await rotateCallbackSecret(fleet.parts.ledger, TENANT, Date.now());
    fleet.start();
    await fleet.becomes(await ended(), 'delivered', 'callback');
    const [request] = endpoint.requests;
    expect(after).not.toBe(before);
    for (const secret of [before, after]) expect(await verified(request!, secret)).toMatchObject({ output: 'All done' });
  });

  it('comes again, under another id, when its task was opened again and ended otherwise', async () => {
    await open();
    fleet.start();
    const id = await accepted();
    await fleet.drive.fail(id, null);
    await fleet.becomes(id, 'delivered', 'callback');
    await retryTask(fleet.parts, TENANT, id);
    await fleet.drive.complete(id, 'At last');
    await expect.poll(() => endpoint.requests.length, { timeout: 5000 }).toBe(2);
    expect(endpoint.requests.map(({ headers }) => headers['webhook-id'])).toEqual([`${id}-callback`, `${id}-callback-1`]);
    expect(await verified(endpoint.requests[1]!)).toMatchObject({ status: 'completed', output: 'At last' });
  });

  it('comes again also when its task ended again before the endpoint had answered the first one', async () => {
    await open();
    const slow = Promise.withResolvers<ServerResponse>();
    answers = [slow.resolve];
    fleet.start();
    const id = await accepted();
    await fleet.drive.fail(id, null);
    const response = await slow.promise;
    await retryTask(fleet.parts, TENANT, id);
    await fleet.drive.complete(id, 'At last');
    await expect.poll(() => endpoint.requests.length, { timeout: 8000 }).toBe(2);
    response.end();
    expect(await fleet.becomes(id, 'delivered', 'callback')).toMatchObject({ attempts: 1, turn: 1 });
    expect(endpoint.requests.map(({ headers }) => headers['webhook-id'])).toEqual([`${id}-callback`, `${id}-callback-1`]);
    expect(await verified(endpoint.requests[1]!)).toMatchObject({ status: 'completed', output: 'At last' });
  });

  it('whose job was lost gets another one, in its time', async () => {
    await open({ deliveries: { auditMs: 50, callbacks: { retryMs: [200] } } });
    answers = [500];
    const first = fleet.start();
    const id = await ended();
    await expect.poll(async () => (await fleet.delivery(id, 'callback'))?.nextTryAt, { timeout: 5000 }).toBeTypeOf('number');
    await first.stop(1000);
    await fleet.parts.queues.get(0, 'deliveries').obliterate({ force: true });
    fleet.start();
    await fleet.becomes(id, 'delivered', 'callback');
    expect(endpoint.requests).toHaveLength(2);
  });

  it('of a failed task that fails itself makes no task, no event and no other callback', async () => {
    await open({ deliveries: { callbacks: { retryMs: [10] } } });
    answers = [500, 500];
    const id = await accepted();
    await fleet.drive.fail(id, null);
    const { redis, keys } = fleet.parts;
    const { events, states, deliveries } = keys.tenant(TENANT);
    const before = await redis.xlen(events);
    fleet.start();
    await fleet.becomes(id, 'failed', 'callback');
    expect(endpoint.requests).toHaveLength(2);
    expect([await redis.xlen(events), await redis.hkeys(states)]).toEqual([before, [id]]);
    expect(await redis.zrangebylex(deliveries, '[all/', '(all0')).toEqual([`all/${id}-callback`]);
  });

  it('can be tried again by hand', async () => {
    await open({ deliveries: { callbacks: { retryMs: [] } } });
    answers = [500];
    fleet.start();
    const id = await ended();
    await fleet.becomes(id, 'failed', 'callback');
    const { ledger, queues } = fleet.parts;
    expect(await retryDelivery({ ledger, queues, clock: systemClock }, TENANT, `${id}-callback`)).toMatchObject({ kind: 'reopened' });
    expect((await fleet.becomes(id, 'delivered', 'callback')).attempts).toBe(1);
  });
});

/** The handler alone, at a time of our choice. */
class Handler {
  now = 1_900_000_000_000;
  readonly context: DeliveryContext;

  constructor() {
    const { parts } = fleet;
    const clock = { now: () => this.now, monotonic: () => this.now };
    const { settings, keys } = parts.ledger;
    this.context = {
      ...parts,
      clock,
      ports: new Map(),
      typing: new TypingSigns(settings.deliveries, clock),
      fetch: createGuardedFetch({ allowNetworks: LOOPBACK, maxResponseBytes: 1000 }),
      callbackSlots: new CallbackSlots(settings.deliveries.callbacks.maxPerTenant),
      waitingRoom: new WaitingRoom({
        events: parts.events,
        queues: parts.queues,
        keys,
        log: parts.log,
        keepMs: 60_000,
        clock: systemClock,
      }),
      isCrowded: () => false,
    };
  }

  async opened(): Promise<string> {
    const id = await ended();
    await openDelivery(fleet.parts.ledger, { tenant: TENANT, task: id, kind: 'callback' }, null, this.now);
    return id;
  }

  async run(task: string, number = 0): Promise<DeliveryEnd> {
    return await handleDelivery(this.context, { tenant: TENANT, task, kind: 'callback', number }, new AbortController().signal);
  }
}

describe('an endpoint that fails', () => {
  it('is called at once and after 5 s, 5 and 30 min, 2, 5, 10 and 10 h, and then no more', async () => {
    await open();
    answers = Array.from({ length: 9 }, () => 500);
    const handler = new Handler();
    const id = await handler.opened();
    const delays: number[] = [];
    for (;;) {
      const end = await handler.run(id);
      if (end.kind === 'done') break;
      delays.push(end.at - handler.now);
      expect(await handler.run(id), 'before its time').toEqual(end);
      handler.now = end.at;
    }
    expect(delays).toEqual([5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]);
    expect(endpoint.requests).toHaveLength(8);
    expect(await fleet.delivery(id, 'callback')).toMatchObject({ status: 'failed', attempts: 8, error: { code: 'http-500' } });
  });

  it('is believed when it says how much later', async () => {
    await open();
    answers = [(response) => response.writeHead(429, { 'retry-after': '120' }).end()];
    const handler = new Handler();
    expect(await handler.run(await handler.opened())).toEqual({ kind: 'later', at: handler.now + 2 * MINUTE });
  });

  it('for five days is not called any more, until somebody enables it', async () => {
    await open({ deliveries: { callbacks: { retryMs: [] } } });
    answers = Array.from({ length: 7 }, () => 500);
    const handler = new Handler();
    const fail = async (code: string): Promise<string> => {
      const id = await handler.opened();
      await handler.run(id);
      expect(await fleet.delivery(id, 'callback')).toMatchObject({ status: 'failed', error: { code } });
      return id;
    };
    const since = handler.now;
    await fail('http-500');
    for (let day = 1; day < 5; day += 1) {
      handler.now += 24 * HOUR;
      await fail('http-500');
    }
    handler.now += 24 * HOUR - 1;
    await fail('http-500');
    expect(await listEndpoints(fleet.parts.ledger, TENANT)).toMatchObject([{ failingSince: since, failures: 6, disabledAt: null }]);
    handler.now += 1;
    await fail('http-500');
    await fail('endpoint-disabled');
    expect(endpoint.requests).toHaveLength(7);
    expect(await listEndpoints(fleet.parts.ledger, TENANT)).toMatchObject([
      { url: `${endpoint.url}/hook`, failures: 7, disabledAt: handler.now },
    ]);
  });

  it('once a week is never disabled, because nobody knows how it was between', async () => {
    await open({ deliveries: { callbacks: { retryMs: [] } } });
    const handler = new Handler();
    answers = [500, 500, 200];
    for (const note of ['failed', 'failed', 'delivered']) {
      expect(await handler.run(await handler.opened())).toEqual({ kind: 'done', note });
      handler.now += 7 * 24 * HOUR;
    }
  });

  it('is not called while its task was opened again and has not ended', async () => {
    await open();
    const handler = new Handler();
    const id = await accepted();
    await fleet.drive.fail(id, null);
    await openDelivery(fleet.parts.ledger, { tenant: TENANT, task: id, kind: 'callback' }, null, handler.now);
    await retryTask(fleet.parts, TENANT, id);
    expect(await handler.run(id)).toMatchObject({ kind: 'later' });
    expect(endpoint.requests).toEqual([]);
    await fleet.drive.complete(id, 'All done');
    expect(await handler.run(id)).toEqual({ kind: 'done', note: 'delivered' });
    expect(endpoint.requests.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([{ status: 'completed' }]);
  });

  it('is not called by the job of an earlier delivery, once somebody has sent it again', async () => {
    await open({ deliveries: { callbacks: { retryMs: [] } } });
    answers = [500];
    const handler = new Handler();
    const id = await handler.opened();
    await handler.run(id);
    await retryDelivery({ ...fleet.parts, clock: handler.context.clock }, TENANT, `${id}-callback`);
    expect(await handler.run(id, 0)).toEqual({ kind: 'done', note: 'replaced' });
    expect(endpoint.requests).toHaveLength(1);
    expect(await handler.run(id, 1)).toEqual({ kind: 'done', note: 'delivered' });
  });

  it('is not called without an end by processes that die of the call', async () => {
    await open({ deliveries: { callbacks: { retryMs: [10] } } });
    const handler = new Handler();
    const id = await handler.opened();
    const stored = await readDelivery(fleet.parts.ledger, TENANT, `${id}-callback`);
    if (!stored) throw new Error('It has a callback');
    // As the second process left it, which counted its call and died.
    await putDelivery(fleet.parts.ledger, stored, { ...stored.delivery, attempts: 2 }, handler.now);
    expect(await handler.run(id)).toEqual({ kind: 'done', note: 'unknown' });
    expect([endpoint.requests, (await fleet.delivery(id, 'callback'))?.error?.code]).toEqual([[], 'interrupted']);
  });

  it('is forgiven by one success', async () => {
    await open({ deliveries: { callbacks: { retryMs: [] } } });
    answers = [500, 200];
    const handler = new Handler();
    await handler.run(await handler.opened());
    expect(await listEndpoints(fleet.parts.ledger, TENANT)).toHaveLength(1);
    await handler.run(await handler.opened());
    expect(await listEndpoints(fleet.parts.ledger, TENANT)).toEqual([]);
  });

  it('slowly takes no more than its tenant’s share of a process', async () => {
    await open({ deliveries: { callbacks: { maxPerTenant: 1 } } });
    const slow = Promise.withResolvers<ServerResponse>();
    answers = [slow.resolve];
    const handler = new Handler();
    const [first, second] = [await handler.opened(), await handler.opened()];
    const running = handler.run(first);
    const response = await slow.promise;
    expect(await handler.run(second)).toMatchObject({ kind: 'later' });
    response.end();
    expect(await running).toEqual({ kind: 'done', note: 'delivered' });
    expect(await handler.run(second)).toEqual({ kind: 'done', note: 'delivered' });
  });

  it('gives its share back to the next one', async () => {
    await open({ deliveries: { callbacks: { maxPerTenant: 1 } } });
    answers = [500, 200];
    const handler = new Handler();
    expect(await handler.run(await handler.opened())).toMatchObject({ kind: 'later' });
    expect(await handler.run(await handler.opened())).toEqual({ kind: 'done', note: 'delivered' });
  });
});
