import { describe, expect, it } from 'vitest';
import { newDelivery, type Delivery, type DeliveryKind } from '#shared/deliveries/delivery.ts';
import { countFailure } from '#shared/deliveries/callbacks/callback-records.ts';
import { putDelivery } from '#shared/deliveries/delivery-store.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();

const made = async (change: Partial<Delivery>, tenant = 'default', kind: DeliveryKind = 'reply'): Promise<Delivery> => {
  const delivery = { ...newDelivery({ tenant, task: newTaskId(), kind }, Date.now()), ...change };
  await putDelivery(api.parts.ledger, null, delivery, Date.now());
  return delivery;
};

describe('/v1/deliveries', () => {
  it('lists what was delivered, and by status, kind and task', async () => {
    const failed = await made({ status: 'failed', attempts: 8, error: { code: 'gone', message: 'no such chat' }, platform: 'telegram' });
    const sent = await made({ status: 'delivered', deliveredAt: Date.now() }, 'default', 'callback');
    const ids = async (query: string): Promise<string[]> =>
      ((await api.call('GET', `/v1/deliveries${query}`)).body.items as { id: string }[]).map(({ id }) => id);
    expect(await ids('')).toEqual([sent.id, failed.id]);
    expect(await ids('?status=failed')).toEqual([failed.id]);
    expect(await ids('?kind=callback')).toEqual([sent.id]);
    expect(await ids(`?task=${failed.task}`)).toEqual([failed.id]);
    expect(await ids(`?task=${failed.task}&status=delivered`)).toEqual([]);
    const { body } = await api.call('GET', '/v1/deliveries?limit=1');
    expect(body).toMatchObject({ items: [{ id: sent.id, kind: 'callback', status: 'delivered' }], nextCursor: sent.id });
    expect(await ids(`?cursor=${body.nextCursor}`)).toEqual([failed.id]);
    const [shown] = (await api.call('GET', `/v1/deliveries?task=${failed.task}`)).body.items as unknown[];
    expect(shown).toEqual({
      id: failed.id,
      task: failed.task,
      kind: 'reply',
      platform: 'telegram',
      status: 'failed',
      parts: [],
      attempts: 8,
      error: { code: 'gone', message: 'no such chat' },
      createdAt: new Date(failed.createdAt).toISOString(),
      deliveredAt: null,
      nextTryAt: null,
    });
  });

  it('refuses a filter that it does not know', async () => {
    for (const query of ['?status=lost', '?kind=sms', '?task=1', '?foo=1', '?limit=0']) {
      expect((await api.call('GET', `/v1/deliveries${query}`)).status).toBe(422);
    }
  });

  it('of a task are under the task', async () => {
    const { body: task } = await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x' } });
    expect((await api.call('GET', `/v1/tasks/${task.id}/deliveries`)).body).toEqual({ items: [], nextCursor: null });
    expect((await api.call('GET', `/v1/tasks/${newTaskId()}/deliveries`)).status).toBe(404);
  });
});

describe('/v1/deliveries/:id/retry', () => {
  it.each(['failed', 'unknown'] as const)('retries a delivery that is %s, with a job of its own', async (status) => {
    const delivery = await made({ status, attempts: 8, error: { code: 'transient', message: 'no' } });
    const reply = await api.call('POST', `/v1/deliveries/${delivery.id}/retry`);
    expect([reply.status, reply.body]).toMatchObject([202, { id: delivery.id, status: 'pending', attempts: 0, error: null }]);
    const job = await api.parts.queues.get(0, 'replies').getJob(`${delivery.id}-1`);
    expect(job?.data).toEqual({ tenant: 'default', task: delivery.task });
    const again = await api.call('POST', `/v1/deliveries/${delivery.id}/retry`);
    expect([again.status, again.body.code, again.body.details]).toEqual([409, 'delivery.wrong-state', { status: 'pending' }]);
  });

  it('does nothing to one that was delivered, and knows no other', async () => {
    const { id } = await made({ status: 'delivered' });
    expect((await api.call('POST', `/v1/deliveries/${id}/retry`)).body).toMatchObject({ status: 409, code: 'delivery.wrong-state' });
    for (const unknown of ['x', `${newTaskId()}-reply`]) {
      const { body } = await api.call('POST', `/v1/deliveries/${unknown}/retry`);
      expect(body).toMatchObject({ status: 404, code: 'delivery.not-found' });
    }
  });
});

describe('callbacks', () => {
  it('are signed with a secret that is made once and can be changed', async () => {
    const { body: first } = await api.call('GET', '/v1/callbacks/secret');
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await api.call('GET', '/v1/callbacks/secret')).body).toEqual(first);
    const { body: second } = await api.call('POST', '/v1/callbacks/secret');
    expect(second.secret).not.toBe(first.secret);
    expect((await api.call('GET', '/v1/callbacks/secret')).body).toEqual(second);
  });

  it('show the endpoints that fail, without their query, and enable them', async () => {
    const url = 'https://example.com/done';
    const error = { code: 'http-500', message: 'The endpoint answered with 500' };
    await countFailure(api.parts.ledger, 'default', `${url}?secret=1`, { error, now: Date.now() });
    const { body } = await api.call('GET', '/v1/callbacks/endpoints');
    expect(body.items).toEqual([expect.objectContaining({ url, failures: 1, error: error.message, disabledAt: null })]);
    const enable = async (): Promise<number> => (await api.call('POST', '/v1/callbacks/endpoints/enable', { body: { url } })).status;
    expect([await enable(), await enable()]).toEqual([204, 404]);
    expect((await api.call('GET', '/v1/callbacks/endpoints')).body.items).toEqual([]);
  });
});

describe('another tenant', () => {
  it('sees, retries and signs nothing of this one', async () => {
    const delivery = await made({ status: 'failed' });
    await countFailure(api.parts.ledger, 'default', 'https://example.com/x', { error: { code: 'x', message: 'x' }, now: Date.now() });
    const key = await api.keyOf('rival', ['operate']);
    expect((await api.call('GET', '/v1/deliveries', { key })).body.items).toEqual([]);
    expect((await api.call('GET', `/v1/deliveries?task=${delivery.task}`, { key })).body.items).toEqual([]);
    expect((await api.call('GET', `/v1/tasks/${delivery.task}/deliveries`, { key })).status).toBe(404);
    expect((await api.call('POST', `/v1/deliveries/${delivery.id}/retry`, { key })).status).toBe(404);
    expect((await api.call('GET', '/v1/callbacks/endpoints', { key })).body.items).toEqual([]);
    const [own, foreign] = [await api.call('GET', '/v1/callbacks/secret'), await api.call('GET', '/v1/callbacks/secret', { key })];
    expect(foreign.body.secret).not.toBe(own.body.secret);
  });

  it('with a key that only looks reads no secret', async () => {
    const key = await api.keyOf('default', ['read']);
    expect((await api.call('GET', '/v1/callbacks/secret', { key })).status).toBe(403);
    expect((await api.call('GET', '/v1/deliveries', { key })).status).toBe(200);
  });
});
