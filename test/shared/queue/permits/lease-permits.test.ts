import { beforeEach, describe, expect, it } from 'vitest';
import { type Settings, settingsSchema } from '#shared/config/settings/settings.ts';
import { configuredFleetLimits } from '#shared/tenants/fleet-limits/fleet-limits-directory.ts';
import { createLog } from '#shared/log/create-log.ts';
import { type Fleet, leasePermits, reservedOf, type PermitAnswer, type PermitCall } from '#shared/queue/permits/lease-permits.ts';
import { rankOf, UNKNOWN_RANK } from '#shared/queue/permits/next-ticket.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const QUEUES = ['tasks', 'critical'];
const keys = createKeys(4);
const settings = settingsSchema.parse({ limits: { maxConcurrent: 10 } });
const server = await useRedis();
const redis = await useRedisClient(server);

beforeEach(async () => {
  await redis.flushall();
});

const fleetOf = (own: Settings): Fleet => ({ redis, keys, settings: own, fleetLimits: () => configuredFleetLimits(own) });
const askAt = (cap: number, worker: string, call: Partial<PermitCall> = {}): Promise<PermitAnswer> =>
  leasePermits(fleetOf({ ...settings, limits: { ...settings.limits, maxConcurrent: cap } }), {
    worker,
    queues: QUEUES,
    kind: 'ordinary',
    holds: 0,
    needs: 1,
    spare: 0,
    rank: UNKNOWN_RANK,
    leaseMs: 10_000,
    attempts: 0,
    keepMs: 0,
    from: {},
    ...call,
  });
const ask = (worker: string, call: Partial<PermitCall> = {}): Promise<PermitAnswer> => askAt(10, worker, call);
const held = (count: number, othersWait = false, isForeign = false): PermitAnswer => ({
  kind: 'held',
  count,
  othersWait,
  isForeign,
  moved: 0,
});
const countPermits = async (): Promise<number> =>
  (await redis.hvals(keys.fleet.permits)).reduce((total, count) => total + Number(count), 0);

describe("the fleet's permits", () => {
  it('are given up to the cap, whoever asks', async () => {
    expect(await ask('a', { needs: 6 })).toEqual(held(6));
    expect(await ask('b', { needs: 6 })).toEqual(held(4));
    expect(await ask('c')).toEqual(held(0, true));
  });

  it('keep a fifth for critical work while a worker serves it, and none before', async () => {
    expect(await ask('a', { kind: 'critical', needs: 0 })).toEqual(held(0));
    expect(await ask('a', { needs: 20 })).toEqual(held(8));
    expect(await ask('a', { kind: 'critical', needs: 20 })).toEqual(held(2, false));
  });

  it('say whether those who wait serve other queues', async () => {
    await ask('a', { needs: 10 });
    await ask('b');
    expect(await ask('a', { holds: 10, needs: 0 })).toEqual(held(10, true));
    await ask('c', { queues: ['tasks', 'chat'] });
    expect(await ask('a', { holds: 10, needs: 0 })).toEqual(held(10, true, true));
    await redis.hdel(keys.fleet.permitWaiters, 'ordinary c');
    // An older release does not say what it serves.
    await redis.hset(keys.fleet.permitWaiters, 'ordinary d', `${UNKNOWN_RANK} 1 ${Date.now()}`);
    expect(await ask('a', { holds: 10, needs: 0 })).toEqual(held(10, true, true));
  });

  it('are the same after a call that came twice', async () => {
    await ask('a', { needs: 3 });
    expect(await ask('a', { needs: 3 })).toEqual(held(3));
    expect(await ask('b', { needs: 10 })).toEqual(held(7));
  });

  it('are never more than the cap when many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(`w${n}`, { spare: 5 })));
    const sum = answers.reduce((total, answer) => total + (answer.kind === 'held' ? answer.count : 0), 0);
    expect(sum).toBe(10);
  });

  it('return at the next call when the cap was lowered, and come back when it was raised', async () => {
    expect([await ask('a', { needs: 6 }), await ask('b', { needs: 4 })]).toEqual([held(6), held(4)]);
    expect(await askAt(3, 'a', { holds: 6, needs: 0 })).toEqual(held(0));
    expect(await askAt(3, 'b', { holds: 4, needs: 0 })).toEqual(held(3));
    expect(await askAt(3, 'a', { needs: 6 })).toEqual(held(0));
    expect(await askAt(7, 'a', { needs: 6 })).toEqual(held(4));
  });

  it('for tickets to come are half of the room, and none while others wait', async () => {
    expect(await ask('a', { spare: 50 })).toEqual(held(5));
    expect(await ask('b', { needs: 8 })).toEqual(held(5));
    expect(await ask('a', { holds: 0, spare: 50 })).toEqual(held(1, true));
  });

  it('that a worker returns go to the best waiting worker', async () => {
    await ask('a', { needs: 10 });
    await ask('later', { rank: rankOf(6, 2) });
    await ask('better', { rank: rankOf(2, 3) });
    await ask('earlier', { rank: rankOf(6, 1) });
    expect(await ask('a', { holds: 9, needs: 1, rank: rankOf(6, 9) })).toEqual(held(9, true));
    expect(await ask('later', { rank: rankOf(6, 2) })).toEqual(held(0, true));
    expect(await ask('earlier', { rank: rankOf(6, 1) })).toEqual(held(0, true));
    expect(await ask('better', { rank: rankOf(2, 3) })).toEqual(held(1, true));
  });

  it('wake whom they go to', async () => {
    const log = createLog({ level: 'silent', service: 'test' });
    const listener = connectRedis({ url: server.url, name: 'test', log, role: 'subscriber' });
    const received: string[] = [];
    listener.on('message', (_channel: string, message: string) => received.push(message));
    await listener.subscribe(keys.fleet.permitSignal);
    await ask('a', { needs: 10 });
    await ask('b', { needs: 2 });
    await ask('a', { holds: 9, needs: 0 });
    await waitFor(() => received.length === 2, { deadlineMs: 5000, what: 'two messages' });
    expect(received).toEqual(['wanted ordinary b tasks+critical', 'free ordinary b']);
    listener.disconnect();
  });

  it('come back when the lease of their worker ends, and are lost to it', async () => {
    await ask('a', { needs: 10, leaseMs: 1 });
    await waitFor(async () => (await ask('b')).kind === 'held' && (await redis.hget(keys.fleet.permits, 'ordinary b')) === '1', {
      deadlineMs: 5000,
      what: 'a permit of the worker that is gone',
    });
    expect(await ask('a', { holds: 10, needs: 0 })).toEqual({ kind: 'lost' });
  });

  it('come back at once when their worker ends', async () => {
    await ask('a', { needs: 10 });
    await ask('a', { holds: 0, needs: 0, leaseMs: 0 });
    expect(await ask('b', { needs: 10 })).toEqual(held(10));
  });
});

describe('the permits of attempts that outlive their process', () => {
  const hub = { keepMs: 60_000, needs: 0 };

  it('stand when its lease has ended, and its other permits do not', async () => {
    await ask('hub', { ...hub, needs: 5 });
    await ask('hub', { ...hub, holds: 5, attempts: 3, leaseMs: 1 });
    await waitFor(async () => (await ask('b', { needs: 0 })).kind === 'held' && (await countPermits()) === 3, {
      deadlineMs: 5000,
      what: 'the permits that no attempt uses to return',
    });
    expect(await ask('b', { needs: 10 })).toEqual(held(7));
    // It was frozen, and wakes up.
    expect(await ask('hub', { ...hub, holds: 5, attempts: 3 })).toEqual(held(3, true));
    expect(await countPermits()).toBe(10);
  });

  it('go to who has adopted them, and to nobody else', async () => {
    await ask('hub', { ...hub, needs: 5 });
    await ask('hub', { ...hub, holds: 5, attempts: 3 });
    await ask('other', { needs: 10 });
    expect(await ask('next', { ...hub, from: { hub: 2 }, attempts: 2 })).toEqual(held(2, true));
    expect(await redis.hgetall(keys.fleet.permits)).toMatchObject({ 'ordinary hub': '2', 'ordinary hub/attempts': '1' });
    expect(await countPermits()).toBe(10);
    // One that is there learns how many it lost.
    expect(await ask('hub', { ...hub, holds: 5, attempts: 1 })).toEqual({ ...held(3, true), moved: 2 });
    expect(await countPermits()).toBe(10);
  });

  it('are taken over as far as there are any, also those of attempts that began after the last report', async () => {
    await ask('hub', { ...hub, needs: 3 });
    expect(await ask('next', { ...hub, from: { hub: 5 }, attempts: 5 })).toEqual(held(3));
    expect(await ask('next', { ...hub, holds: 3, from: { unknown: 1 }, attempts: 3 })).toEqual(held(3));
    expect(await countPermits()).toBe(3);
  });

  it('stand after its end for what it has left, and not for what was taken over before', async () => {
    await ask('hub', { ...hub, needs: 5 });
    await ask('hub', { ...hub, holds: 5, attempts: 3 });
    await ask('next', { ...hub, from: { hub: 1 }, attempts: 1 });
    await ask('hub', { ...hub, holds: 5, attempts: 3, leaseMs: 0 });
    expect(await redis.hgetall(keys.fleet.permits)).toMatchObject({ 'ordinary hub/attempts': '2' });
    expect(await countPermits()).toBe(3);
    await ask('next', { ...hub, holds: 1, from: { hub: 2 }, attempts: 3 });
    expect(await countPermits()).toBe(3);
  });

  it('end without a process of theirs when they have stood long enough', async () => {
    await ask('hub', { ...hub, needs: 5, keepMs: 1 });
    await ask('hub', { ...hub, holds: 5, attempts: 5, leaseMs: 1, keepMs: 1 });
    await waitFor(async () => (await ask('b', { needs: 0 })).kind === 'held' && (await countPermits()) === 0, {
      deadlineMs: 5000,
      what: 'all permits to return',
    });
    expect(await redis.zrange(keys.fleet.permitHolders, '0', '-1')).toEqual(['b']);
  });
});

describe('what is kept for critical work', () => {
  it.each([
    [1, 0.2, 0],
    [2, 0.2, 1],
    [8, 0.2, 1],
    [1000, 0.2, 200],
    [10, 0, 0],
  ])('is of a cap of %d and a share of %d: %d', (maxConcurrent, criticalShare, kept) => {
    expect(reservedOf(fleetOf(settingsSchema.parse({ limits: { maxConcurrent, criticalShare } })))).toBe(kept);
  });
});
