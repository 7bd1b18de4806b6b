import { describe, expect, it } from 'vitest';
import { type Flow, type SlotSupply, timeToLastStart } from '#shared/queue/why/drain-model.ts';

const SUPPLY: SlotSupply = { slots: 10, reserved: 0, free: 0, runningMs: 1000, lateMs: [], shares: { high: 40, normal: 35, low: 15 } };

const flow = (queue: Flow['queue'], count: number, more: Partial<Flow & Flow['segments'][number]> = {}): Flow => {
  const { band = 'normal', costMs = 1000, weight = 4 } = more;
  return { queue, weight, segments: [{ band, count, costMs }] };
};

describe('the time until the last task of a queue starts', () => {
  it('is that of as many ends of others as start before', () => {
    expect(timeToLastStart(flow('tasks', 100), [], SUPPLY)).toBeCloseTo(10_000);
  });

  it('is none while slots are free', () => {
    expect(timeToLastStart(flow('tasks', 3), [], { ...SUPPLY, free: 4 })).toBe(0);
  });

  it('grows by what a queue of the same band gets beside it, until that one is empty', () => {
    // Half of the slots until the other 20 have started, then all of them.
    expect(timeToLastStart(flow('tasks', 100), [flow('chat', 20)], SUPPLY)).toBeCloseTo(12_000);
    expect(timeToLastStart(flow('tasks', 10), [flow('chat', 1000, { weight: 12 })], SUPPLY)).toBeCloseTo(4000);
  });

  it('shares the slots of a band of its own', () => {
    const low = flow('background', 1000, { band: 'low' });
    expect(timeToLastStart(flow('tasks', 35), [low], SUPPLY)).toBeCloseTo(5000);
  });

  it('comes after all that is critical', () => {
    const unhindered = timeToLastStart(flow('tasks', 10), [], SUPPLY) ?? 0;
    expect(timeToLastStart(flow('tasks', 10), [flow('critical', 50, { band: 'high' })], SUPPLY)).toBeGreaterThan(unhindered);
  });

  it('waits for the first slot whose attempt runs late, when all do', () => {
    const late = { ...SUPPLY, slots: 2, lateMs: [60_000, 20_000] };
    expect(timeToLastStart(flow('tasks', 1), [], late)).toBe(20_000);
    expect(timeToLastStart(flow('tasks', 2), [], late)).toBeCloseTo(21_000);
  });

  it('is that of the other slots while some attempts run late', () => {
    expect(timeToLastStart(flow('tasks', 10), [], { ...SUPPLY, lateMs: [60_000, 60_000, 60_000, 60_000, 60_000] })).toBeCloseTo(2000);
  });

  it('is unknown without slots', () => {
    expect(timeToLastStart(flow('tasks', 1), [], { ...SUPPLY, slots: 0 })).toBeNull();
  });
});
