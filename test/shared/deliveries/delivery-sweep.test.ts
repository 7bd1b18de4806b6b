import { describe, expect, it } from 'vitest';
import { DeliverySweep } from '#shared/deliveries/delivery-sweep.ts';
import { cancelTask } from '#shared/ledger/cancel-task.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { systemClock } from '#shared/time/clock.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts();

describe('ends that somebody outside waits for', () => {
  it('all get their deliveries in one look, however many there are', async () => {
    const request = { tenant: 'default', agent: 'echo', input: 'hello', callbackUrl: 'https://example.com/done' };
    const accepted = await Promise.all(Array.from({ length: 450 }, () => acceptTask(parts, request)));
    await Promise.all(accepted.map(({ id }) => cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough')));
    const { ended, deliveriesDue } = parts.keys.shard(0);
    expect(await parts.redis.zcard(ended)).toBe(accepted.length);
    await new DeliverySweep({ ledger: parts.ledger, queues: parts.queues, clock: systemClock, log: parts.log }).look(0);
    expect([await parts.redis.zcard(ended), await parts.redis.zcard(deliveriesDue)]).toEqual([0, accepted.length]);
  });
});
