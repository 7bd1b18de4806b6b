import { describe, expect, it } from 'vitest';
import { TimeBox } from '#shared/ledger/search/time-box.ts';

describe('a time box', () => {
  it('that is over lets a search check the least at a time', () => {
    const time = new TimeBox(0);
    time.add(1_000_000);
    expect([time.isOver(), time.nextSize(100, 1000)]).toEqual([true, 100]);
  });

  it('lets a search check as much at a time as its pace allows, at most the largest batch', () => {
    const time = new TimeBox(1e9);
    time.add(1000);
    expect([time.isOver(), time.nextSize(100, 1000)]).toEqual([false, 1000]);
  });

  it('begins with the least, because the pace is not known yet', () => {
    expect(new TimeBox(1e9).nextSize(100, 1000)).toBe(100);
  });
});
