import { describe, expect, it } from 'vitest';
import { CallBatches, MAX_ITEMS } from '#shared/ledger/batches.ts';
import type { Ledger } from '#shared/ledger/index.ts';

function open() {
  const sent: string[] = [];
  // Corked streams write what they were given when the last cork is drawn.
  const write = { number: 0, corks: 0 };
  const stream = {
    cork: () => {
      if (write.corks === 0) write.number += 1;
      write.corks += 1;
    },
    uncork: () => (write.corks -= 1),
  };
  const ledger = { redis: { stream } } as unknown as Ledger;
  const batches = new CallBatches();
  const runOf = (name: string) => (_: Ledger, items: readonly number[], next: readonly unknown[]) => {
    sent.push(`${name} ${items.length}, ${next.length} behind, ${write.corks > 0 ? `in write ${write.number}` : 'alone'}`);
    return Promise.resolve([...items]);
  };
  const [first, second] = [runOf('first'), runOf('second')];
  return {
    sent,
    first: (item: number) => batches.add({ ledger, run: first, group: 'a' }, item),
    second: (item: number) => batches.add({ ledger, run: second, group: 'b', after: first }, item),
  };
}

const times = (count: number, call: (item: number) => Promise<number>): Promise<number>[] =>
  Array.from({ length: count }, (_, item) => call(item));

describe('CallBatches', () => {
  it('runs the calls of one turn together, and answers each', async () => {
    const { sent, first } = open();
    expect(await Promise.all(times(3, first))).toEqual([0, 1, 2]);
    expect(sent).toEqual(['first 3, 0 behind, in write 1']);
  });

  it('runs no more calls at once than a script takes', async () => {
    const { sent, first } = open();
    await Promise.all(times(MAX_ITEMS + 1, first));
    expect(sent).toEqual([`first ${MAX_ITEMS}, 0 behind, in write 1`, 'first 1, 0 behind, in write 2']);
  });

  it('sends calls that others follow in one write with those', async () => {
    const { sent, first, second } = open();
    await Promise.all(times(1, second));
    await Promise.all([...times(MAX_ITEMS + 1, first), ...times(MAX_ITEMS, second)]);
    expect(sent.slice(1)).toEqual([`first ${MAX_ITEMS + 1}, ${MAX_ITEMS} behind, in write 2`, `second ${MAX_ITEMS}, 0 behind, in write 2`]);
  });

  it('lets calls wait for those that follow them within a bound', async () => {
    const { sent, first, second } = open();
    await Promise.all(times(1, second));
    await Promise.all(times(2 * MAX_ITEMS + 1, first));
    expect(sent.slice(1)).toEqual([`first ${2 * MAX_ITEMS}, 0 behind, in write 2`, 'first 1, 0 behind, in write 3']);
  });
});
