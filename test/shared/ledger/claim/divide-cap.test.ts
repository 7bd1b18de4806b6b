import { array, assert, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divide, divideCap } from '#shared/ledger/claim/divide-cap.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const CAP = 10;
const SHARDS = 3;
const test = await useLedger({ limits: { maxConcurrent: CAP, criticalShare: 0.2 } }, SHARDS);
const ledger: Ledger = { ...test.ledger, offeredSlots: () => 1 };
const { redis, keys } = test;

async function divideNow(): Promise<string[]> {
  await redis.del(keys.fleet.capDivision);
  await divideCap(ledger);
  return await Promise.all(Array.from({ length: SHARDS }, async (_, shard) => (await redis.get(keys.shard(shard).cap)) ?? ''));
}

const run = async (shard: number, count: number): Promise<void> => {
  await redis.del(keys.shard(shard).leases);
  if (count > 0) await redis.zadd(keys.shard(shard).leases, ...Array.from({ length: count }, (_, at) => [1, `acme/t${at}/1`]).flat());
};
const wait = async (shard: number, count: number, queue = 'tasks'): Promise<void> => {
  if (count > 0)
    await redis.zadd(keys.shard(shard).ready, ...Array.from({ length: count }, (_, at) => [0, `${queue}/05/acme/1/t${at}.1/`]).flat());
};
const maxima = (shares: readonly string[]): number[] => shares.map((share) => Number(share.split('/')[0]));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

describe('shares of a number', () => {
  it('are whole, are all of it, and give everybody what is needed before anybody gets more', () => {
    assert(
      property(array(nat(50), { minLength: 1, maxLength: 8 }), nat(100), (demands, total) => {
        const shares = divide(demands, total);
        expect(sum(shares)).toBe(total);
        expect(shares.every((share) => Number.isInteger(share) && share >= 0)).toBe(true);
        const isShort = shares.some((share, at) => share < (demands[at] ?? 0));
        const hasMore = shares.some((share, at) => share > (demands[at] ?? 0));
        expect(isShort && hasMore).toBe(false);
      }),
    );
  });
});

describe("the fleet's cap over several shards", () => {
  it('is divided equally where nothing is asked for', async () => {
    expect(sum(maxima(await divideNow()))).toBe(CAP);
  });

  it('follows what waits, and rises only into what another has left', async () => {
    await test.reset();
    await wait(0, 20);
    const first = maxima(await divideNow());
    expect(sum(first)).toBe(CAP);
    expect(first[0]).toBeGreaterThanOrEqual(CAP - 2);
    // Two are reserved for critical work.
    const others = async (): Promise<number[]> =>
      (await divideNow()).map((share) => Number(share.split('/')[0]) - Number(share.split('/')[1]));
    await run(0, 8);
    await wait(1, 20);
    // What runs above a cut share is not given away yet.
    expect(await others()).toEqual([4, 0, 0]);
    await run(0, 7);
    expect(await others()).toEqual([4, 1, 0]);
    await run(0, 2);
    expect(await others()).toEqual([4, 4, 0]);
  });

  it('keeps its part for critical work where that waits', async () => {
    await test.reset();
    await wait(0, 20);
    await wait(2, 2, 'critical');
    const shares = await divideNow();
    expect(shares.map((share) => Number(share.split('/')[1]))).toEqual([0, 0, 2]);
  });

  it('is divided by one process at a time', async () => {
    await test.reset();
    await divideCap(ledger);
    await wait(1, 20);
    await divideCap(ledger);
    expect(await redis.get(keys.shard(1).cap)).toMatch(/^[34]\//);
  });
});
