import { describe, expect, it } from 'vitest';
import { DONE, retry, TENANT, type Held } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };

const test = await useCheckedLedger();

/** Accepts one after the other, each with its number or none, behind a task that runs. Answers with the order of the line. */
const lineOf = async (...numbers: (number | null)[]): Promise<(number | null)[]> => {
  const held = await test.claimed(await test.accepted({ lane: LANE }));
  const places = new Map<string, number>();
  for (const [place, order] of numbers.entries()) {
    places.set(await test.accepted({ lane: { ...LANE, ...(order === null ? {} : { order }) } }), place);
  }
  const line = await test.redis.zrange(test.keys.tenant(TENANT).laneWait(LANE.name), '0', '-1');
  await test.settle(held, DONE);
  return line.map((id) => numbers[places.get(id) ?? -1] ?? null);
};

describe('a line', () => {
  it('goes by number when all have one, however they came', async () => {
    expect(await lineOf(5, 3, 9, 1, 7, 8, 2, 6, 4)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each([
    ['small', 40, 42, 41],
    ['as long as a time in microseconds', 1_700_000_000_000_040, 1_700_000_000_000_042, 1_700_000_000_000_041],
  ])('keeps those without a number where they came, whatever the numbers of others are: %s', async (_size, a, c, b) => {
    expect(await lineOf(a, null, c, null, b)).toEqual([a, null, b, null, c]);
  });

  it('lets a late one take the slot of the one it belongs before, and that one the next', async () => {
    expect(await lineOf(null, 3, null, 1, 2)).toEqual([null, 1, null, 2, 3]);
  });

  it('stays in order when hundreds come in the same moment, backwards', async () => {
    const numbers = Array.from({ length: 300 }, (_, n) => 300 - n);
    expect(await lineOf(...numbers)).toEqual(numbers.toReversed());
  });
});

describe('a task that yields its place while it waits for a retry', () => {
  const yielding = { lane: LANE, yields: true };
  const failed = async (): Promise<Held> => {
    const held = await test.claimed(await test.accepted(yielding));
    await test.settle(held, retry(60_000));
    return held;
  };

  it('yields to the next of its lane, and comes back before those that came after it', async () => {
    const held = await test.claimed(await test.accepted(yielding));
    const [second, third] = [await test.accepted({ lane: LANE }), await test.accepted({ lane: LANE })];
    await test.settle(held, retry(60_000));
    expect(await test.state(held.id)).toMatchObject({ status: 'failed', gate: 'retry' });
    const running = await test.claimed(second);
    await test.makeDue(held.id);
    expect((await test.claim(held.id)).kind).toBe('parked');
    expect((await test.state(held.id)).gate).toBe('lane');
    await test.settle(running, DONE);
    expect(test.granted.map(({ task }) => task)).toEqual([second, held.id]);
    expect((await test.claim(held.id)).kind).toBe('claimed');
    expect((await test.state(third)).gate).toBe('lane');
  });

  it('leaves nothing in a lane that nobody else is in, and takes it again', async () => {
    const held = await failed();
    expect(await test.redis.exists(test.keys.tenant(TENANT).laneHeld(LANE.name))).toBe(0);
    await test.makeDue(held.id);
    expect((await test.claim(held.id)).kind).toBe('claimed');
    expect(await test.accept({ lane: LANE })).toMatchObject({ gate: 'lane' });
  });

  it('keeps its place when the retry is at once', async () => {
    const held = await test.claimed(await test.accepted(yielding));
    await test.settle(held, retry(0));
    expect(await test.accept({ lane: LANE })).toMatchObject({ gate: 'lane' });
  });

  it('lets the lane go once, when two settle it at the same time', async () => {
    const held = await test.claimed(await test.accepted(yielding));
    const next = [await test.accepted({ lane: LANE }), await test.accepted({ lane: LANE })];
    await Promise.all([test.settle(held, retry(60_000)), test.settle(held, retry(60_000))]);
    expect(await test.statuses(...next)).toEqual(['queued', 'pending']);
  });

  it('can be replaced while it stands in line again', async () => {
    const held = await failed();
    const other = await test.claimed(await test.accepted({ lane: LANE }));
    await test.makeDue(held.id);
    await test.claim(held.id);
    await test.accepted({ lane: LANE, mode: 'latest' });
    expect((await test.state(held.id)).outcome?.kind).toBe('superseded');
    await test.settle(other, DONE);
  });
});
