import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newDelivery, type Delivery } from '#shared/deliveries/delivery.ts';
import { putDelivery, putOffDue, readDelivery, takeDue, type StoredDelivery } from '#shared/deliveries/delivery-store.ts';
import { DeliveryLost, HeldDelivery } from '#shared/deliveries/held-delivery.ts';
import { listDeliveries, trimDeliveries } from '#shared/deliveries/delivery-lookups.ts';
import { openDelivery, retryDelivery } from '#shared/deliveries/open-delivery.ts';
import type { Queues } from '#shared/queue/queues.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { systemClock } from '#shared/time/clock.ts';
import { TENANT } from '../ledger/support/test-ledger.ts';
import { useLedger } from '../ledger/support/use-ledger.ts';

const NOW = 1_800_000_000_000;
const AUDIT_MS = 30_000;

const test = await useLedger();
beforeEach(async () => {
  await test.reset();
});

const put = async (before: StoredDelivery | null, delivery: Delivery, now = NOW): Promise<StoredDelivery> => {
  const stored = await putDelivery(test.ledger, before, delivery, now);
  if (stored === null) throw new Error('The delivery was not written');
  return stored;
};
const made = async (task = newTaskId(), change: Partial<Delivery> = {}): Promise<StoredDelivery> =>
  await put(null, { ...newDelivery({ tenant: TENANT, task, kind: 'reply' }, NOW), ...change });
const dueAt = async ({ delivery }: StoredDelivery): Promise<string | null> =>
  await test.redis.zscore(test.keys.shard(0).deliveriesDue, `${TENANT}/${delivery.id}`);

describe('the record of a delivery', () => {
  it('is written, found by its id, and looked up again while it is pending', async () => {
    const stored = await made();
    expect(await readDelivery(test.ledger, TENANT, stored.delivery.id)).toEqual(stored);
    expect(await dueAt(stored)).toBe(String(NOW + AUDIT_MS));
    const later = await put(stored, { ...stored.delivery, nextTryAt: NOW + 1000 });
    expect(await dueAt(later)).toBe(String(NOW + 1000 + AUDIT_MS));
    expect(await dueAt(await put(later, { ...later.delivery, status: 'delivered' }))).toBeNull();
  });

  it('is kept for its time and no longer', async () => {
    const { delivery } = await made();
    const left = await test.redis.pttl(test.keys.tenant(TENANT).delivery(delivery.id));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(test.ledger.settings.deliveries.retentionMs);
  });

  it('is not written by somebody who read an older one, nor where there is one already', async () => {
    const first = await made();
    const second = await put(first, { ...first.delivery, attempts: 1 });
    expect(await putDelivery(test.ledger, first, { ...first.delivery, attempts: 7 }, NOW)).toBeNull();
    expect(await putDelivery(test.ledger, null, { ...first.delivery, attempts: 8 }, NOW)).toBeNull();
    expect(await readDelivery(test.ledger, TENANT, first.delivery.id)).toEqual(second);
  });

  it('is written once by a call that is made again because its answer was lost', async () => {
    const first = await made();
    const next = { ...first.delivery, status: 'failed' as const };
    expect(await putDelivery(test.ledger, first, next, NOW)).toEqual(await putDelivery(test.ledger, first, next, NOW));
    expect(await test.redis.zcard(test.keys.tenant(TENANT).deliveries)).toBe(3);
  });

  it('is changed by one of two at the same time', async () => {
    const first = await made();
    const changes = ['a', 'b'].map((holder) => putDelivery(test.ledger, first, { ...first.delivery, holder }, NOW));
    expect((await Promise.all(changes)).filter((each) => each !== null)).toHaveLength(1);
  });

  it('is written for a tenant that has ended only where there was one before', async () => {
    const known = await made();
    await test.redis.hset(test.keys.shard(0).tenantStates, TENANT, 'ended');
    const posted = await put(known, { ...known.delivery, attempts: 1 });
    expect(await readDelivery(test.ledger, TENANT, known.delivery.id)).toEqual(posted);
    await expect(made()).rejects.toMatchObject({ code: 'tenant.ended' });
  });

  it('is made by one of two that open it at once', async () => {
    const key = { tenant: TENANT, task: newTaskId(), kind: 'reply' } as const;
    const opened = await Promise.all([openDelivery(test.ledger, key, null, NOW), openDelivery(test.ledger, key, null, NOW + 1)]);
    expect(opened[0]).toEqual(opened[1]);
  });
});

describe('a delivery that somebody holds', () => {
  it('is lost to whoever takes it next: the first holder writes nothing any more', async () => {
    const found = await made();
    const frozen = await HeldDelivery.take(test.ledger, found, systemClock);
    const now = await readDelivery(test.ledger, TENANT, found.delivery.id);
    const other = await HeldDelivery.take(test.ledger, now!, systemClock);
    await expect(frozen!.save({ attempts: 9 })).rejects.toThrow(DeliveryLost);
    await other!.save({ attempts: 1 });
    expect((await readDelivery(test.ledger, TENANT, found.delivery.id))?.delivery.attempts).toBe(1);
  });

  it('records what was posted although Redis is away for a moment', async () => {
    const found = await made();
    const held = await HeldDelivery.take(test.ledger, found, systemClock);
    const sent = vi.spyOn(test.redis, 'sendCommand');
    for (let lost = 0; lost < 2; lost += 1) {
      sent.mockImplementationOnce((command: { reject(error: Error): void; promise: Promise<unknown> }) => {
        command.reject(new Error('Connection is closed.'));
        return command.promise;
      });
    }
    await held!.save({ attempts: 1 });
    sent.mockRestore();
    expect((await readDelivery(test.ledger, TENANT, found.delivery.id))?.delivery.attempts).toBe(1);
  });

  it('cannot be taken from what was read before a change', async () => {
    const found = await made();
    await put(found, { ...found.delivery, attempts: 1 });
    expect(await HeldDelivery.take(test.ledger, found, systemClock)).toBeNull();
  });
});

/** The delivery of a task that ended then. */
const endAt = async ({ delivery: { task } }: StoredDelivery, endedAt: number): Promise<Delivery | null> =>
  await openDelivery(test.ledger, { tenant: TENANT, task, kind: 'reply' }, endedAt, NOW);

describe('a delivery whose task ended again', () => {
  it('starts again as another one, with a job of its own, once for each end', async () => {
    const over = await made(newTaskId(), { status: 'delivered', endedAt: NOW - 1000, number: 2, attempts: 3 });
    expect(await endAt(over, NOW - 1000)).toEqual(over.delivery);
    const again = await endAt(over, NOW);
    expect(again).toMatchObject({ status: 'pending', number: 3, turn: 1, attempts: 0, parts: [], endedAt: null });
    expect(await endAt(over, NOW)).toEqual(again);
  });

  it('starts again also while the earlier end is sent, whose sender then writes nothing', async () => {
    const sent = await made(newTaskId(), { endedAt: NOW - 1000, number: 2, attempts: 3, nextTryAt: NOW + 500, holder: 'one' });
    expect(await endAt(sent, NOW)).toMatchObject({ number: 3, turn: 1, attempts: 0, endedAt: null, nextTryAt: NOW + 500 });
    expect(await putDelivery(test.ledger, sent, { ...sent.delivery, status: 'delivered' }, NOW)).toBeNull();
  });

  it('stays the same one where it does not know an end yet', async () => {
    const followed = await made(newTaskId(), { endedAt: null, holder: 'one' });
    expect(await endAt(followed, NOW)).toEqual(followed.delivery);
  });
});

describe('a delivery that a person sends again', () => {
  const queued: unknown[] = [];
  const queues = {
    get: () => ({
      add: (_kind: string, _data: unknown, { jobId }: { jobId: string }) => {
        queued.push(jobId);
        return Promise.resolve({ getState: () => Promise.resolve('waiting') });
      },
    }),
  } as unknown as Queues;
  const again = async ({ delivery: { id } }: StoredDelivery, tenant = TENANT): ReturnType<typeof retryDelivery> =>
    await retryDelivery({ ledger: test.ledger, queues, clock: systemClock }, tenant, id);

  it('is opened when it failed or is unknown, with a job of its own and without its posted parts again', async () => {
    const parts = [{ index: 0, messageId: 'm1', digest: 'd', isFinal: false }];
    for (const status of ['failed', 'unknown'] as const) {
      const over = await made(newTaskId(), { status, parts, attempts: 5, error: { code: 'gone', message: 'x' } });
      expect(await again(over, 'other')).toEqual({ kind: 'none' });
      expect(await again(over)).toMatchObject({
        kind: 'reopened',
        delivery: { status: 'pending', parts, attempts: 0, error: null, number: 1 },
      });
      expect(queued.at(-1)).toBe(`${over.delivery.task}-reply-1`);
      expect(await again(over)).toEqual({ kind: 'refused', status: 'pending' });
    }
  });

  it('is refused when it was delivered', async () => {
    const before = queued.length;
    expect(await again(await made(newTaskId(), { status: 'delivered' }))).toEqual({ kind: 'refused', status: 'delivered' });
    expect(queued).toHaveLength(before);
  });
});

describe('deliveries whose job should be looked up', () => {
  it('are not those that ended meanwhile', async () => {
    const over = await made(newTaskId(), { status: 'delivered' });
    await putOffDue(test.ledger, over.delivery, NOW);
    expect(await dueAt(over)).toBeNull();
  });

  it('are given to one of several who ask, and to the next one after a while', async () => {
    const early = await made();
    await made(newTaskId(), { nextTryAt: NOW + 10_000 });
    const at = NOW + AUDIT_MS;
    const both = await Promise.all([takeDue(test.ledger, 0, at, 10), takeDue(test.ledger, 0, at, 10)]);
    expect(both.flat()).toEqual([{ tenant: TENANT, id: early.delivery.id }]);
    expect(await takeDue(test.ledger, 0, at + AUDIT_MS, 10)).toHaveLength(2);
  });

  it('are taken up to a limit at once, the longest due first', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await made(newTaskId(), { nextTryAt: NOW + n })).delivery.id);
    expect((await takeDue(test.ledger, 0, NOW * 2, 2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });
});

describe('the list of deliveries', () => {
  it('has the newest task first, page by page, by status and kind', async () => {
    const all: string[] = [];
    for (let n = 0; n < 5; n += 1) all.unshift((await made(newTaskId(), { status: n % 2 === 0 ? 'failed' : 'delivered' })).delivery.id);
    const call = { ...newDelivery({ tenant: TENANT, task: newTaskId(), kind: 'callback' }, NOW), status: 'failed' as const };
    await put(null, call);
    const list = async (filter: Parameters<typeof listDeliveries>[2], limit = 10, before?: string): Promise<(string | null)[]> => {
      const { items, next } = await listDeliveries(test.ledger, TENANT, filter, { limit, before });
      return [...items.map(({ id }) => id), next];
    };
    expect(await list({})).toEqual([call.id, ...all, null]);
    expect(await list({}, 2)).toEqual([call.id, all[0], all[0]]);
    expect(await list({}, 3, all[0])).toEqual([...all.slice(1, 4), all[3]]);
    expect(await list({ status: 'delivered' })).toEqual([all[1], all[3], null]);
    expect(await list({ status: 'failed', kind: 'reply' })).toEqual([all[0], all[2], all[4], null]);
    expect(await list({ kind: 'callback' })).toEqual([call.id, null]);
    expect((await listDeliveries(test.ledger, 'other', {}, { limit: 10 })).items).toEqual([]);
  });

  it('forgets the names of those whose time to be read is over, past others of their age that are read still', async () => {
    const keys = test.keys.tenant(TENANT);
    const kept = await made();
    // More than one page.
    const old: string[] = [];
    for (let n = 0; n < 520; n += 1) old.push((await made()).delivery.id);
    await test.redis.del(...old.map((id) => keys.delivery(id)));
    await trimDeliveries(test.ledger, TENANT, Date.now());
    expect(await test.redis.zcard(keys.deliveries)).toBe(521 * 3);
    await trimDeliveries(test.ledger, TENANT, Date.now() + test.ledger.settings.deliveries.retentionMs + 1000);
    const { id } = kept.delivery;
    expect(await test.redis.zrangebylex(keys.deliveries, '-', '+')).toEqual([`all/${id}`, `kind=reply/${id}`, `status=pending/${id}`]);
  });
});
