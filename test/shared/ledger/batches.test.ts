import { describe, expect, it } from 'vitest';
import { CallBatches, MAX_ITEMS } from '#shared/ledger/batches.ts';
import type { Ledger } from '#shared/ledger/index.ts';

function open() {
  const sent: string[] = [];
  const writes = { corked: 0, ended: 0 };
  const stream = { cork: () => (writes.corked += 1), uncork: () => (writes.ended += 1) };
  const ledger = { redis: { stream } } as unknown as Ledger;
  const batches = new CallBatches();
  const runOf = (name: string) => (_: Ledger, items: readonly number[], next: readonly unknown[]) => {
    sent.push(`${name} ${items.length}, ${next.length} behind, ${writes.corked - writes.ended > 0 ? 'in a write' : 'alone'}`);
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
    expect(sent).toEqual(['first 3, 0 behind, in a write']);
  });

  it('runs no more calls at once than a script takes', async () => {
    const { sent, first } = open();
    await Promise.all(times(MAX_ITEMS + 1, first));
    expect(sent).toEqual([`first ${MAX_ITEMS}, 0 behind, in a write`, 'first 1, 0 behind, in a write']);
  });

  it('sends calls that others follow in one write with those', async () => {
    const { sent, first, second } = open();
    await Promise.all(times(1, second));
    await Promise.all([...times(MAX_ITEMS + 1, first), ...times(MAX_ITEMS, second)]);
    expect(sent.slice(1)).toEqual([`first ${MAX_ITEMS + 1}, ${MAX_ITEMS} behind, in a write`, `second ${MAX_ITEMS}, 0 behind, in a write`]);
  });

  it('lets calls wait for those that follow them within a bound', async () => {
    const { sent, first, second } = open();
    await Promise.all(times(1, second));
    await Promise.all(times(2 * MAX_ITEMS + 1, first));
    expect(sent.slice(1)).toEqual([`first ${2 * MAX_ITEMS}, 0 behind, in a write`, 'first 1, 0 behind, in a write']);
  });
});
