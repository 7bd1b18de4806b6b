import { describe, expect, it } from 'vitest';
import { readDelivery } from '#shared/deliveries/delivery-store.ts';
import { DeliverySweep } from '#shared/deliveries/delivery-sweep.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { systemClock } from '#shared/time/clock.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts();

describe('ends that somebody outside waits for', () => {
  it('all get their deliveries in one look, however many there are', async () => {
    const request = { tenant: 'default', agent: 'echo', input: 'hello', callbackUrl: 'https://example.com/done' };
    const accepted = await Promise.all(Array.from({ length: 450 }, () => acceptTask(parts, request)));
    await Promise.all(accepted.map(({ id }) => cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough')));
    const { ended, deliveriesDue } = parts.keys.shard(0);
    expect(await parts.redis.zcard(ended)).toBe(accepted.length);
    await new DeliverySweep({ ledger: parts.ledger, queues: parts.queues, clock: systemClock, log: parts.log }).sweepShard(0);
    expect([await parts.redis.zcard(ended), await parts.redis.zcard(deliveriesDue)]).toEqual([0, accepted.length]);
  });
});

describe('a reply', () => {
  it('whose platform no process serves fails with a reason when its time is over, and leaves no job behind', async () => {
    const { maxAgeMs, maxThrottleMs, lockMs, auditMs } = parts.config.settings.deliveries;
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const reply = { platform: 'telegram', thread: 't1' };
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'hello', source: 'chat', reply });
    await cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough');
    const sweep = new DeliverySweep({ ledger: parts.ledger, queues: parts.queues, clock, log: parts.log });
    const status = async (): Promise<unknown> => (await readDelivery(parts.ledger, 'default', `${id}-reply`))?.delivery;
    await sweep.sweepShard(0);
    now += maxAgeMs;
    await sweep.sweepShard(0);
    expect(await status()).toMatchObject({ status: 'pending' });
    now += maxThrottleMs + lockMs + auditMs + 1000;
    await sweep.sweepShard(0);
    const message = 'No process that serves its chat platform took it in time';
    expect(await status()).toMatchObject({ status: 'failed', error: { code: 'no-platform', message } });
    expect(await parts.queues.get(0, 'replies').getWaitingCount()).toBe(0);
  });
});

describe('a callback', () => {
  it('is not given up, however long ago its task ended', async () => {
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const request = { tenant: 'default', agent: 'echo', input: 'hello', callbackUrl: 'https://example.com/done' };
    const { id } = await acceptTask(parts, request);
    await cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough');
    const sweep = new DeliverySweep({ ledger: parts.ledger, queues: parts.queues, clock, log: parts.log });
    await sweep.sweepShard(0);
    now += 10 * 86_400_000;
    await sweep.sweepShard(0);
    expect((await readDelivery(parts.ledger, 'default', `${id}-callback`))?.delivery).toMatchObject({ status: 'pending', error: null });
    expect(await parts.queues.get(0, 'deliveries').getJobCounts('prioritized', 'waiting')).toMatchObject({ waiting: 1 });
  });
});

it('a delivery whose record is not kept any more is not looked for again', async () => {
  const { deliveriesDue } = parts.keys.shard(0);
  await parts.redis.zadd(deliveriesDue, 1, `default/${newTaskId()}-callback`);
  await new DeliverySweep({ ledger: parts.ledger, queues: parts.queues, clock: systemClock, log: parts.log }).sweepShard(0);
  expect(await parts.redis.zcard(deliveriesDue)).toBe(0);
});
