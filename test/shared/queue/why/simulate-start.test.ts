import { describe, expect, it } from 'vitest';
import type { TaskQueue } from '#shared/config/sources.ts';
import { simulateStart, type SimulatedStart, type StartScene } from '#shared/queue/why/simulate-start.ts';

const USUAL = { queue: 'tasks', priority: 5 } as const;
const weights = new Map<TaskQueue, number>([
  ['critical', 1],
  ['chat', 4],
  ['tasks', 4],
  ['background', 4],
]);
const SHARES = { high: 40, normal: 35, low: 15 };

const waiting = (count: number, more: Partial<StartScene['front'][number]> = {}): StartScene['front'][number] => ({
  ...USUAL,
  count,
  costMs: 1000,
  ...more,
});

/** Ten slots whose attempts end one every 100 ms, and a task that waits for one. */
function follow({ slots = 10, rests, ...scene }: Partial<StartScene> & { slots?: number; rests?: number[] } = {}): SimulatedStart {
  const restsMs = rests ?? Array.from({ length: slots }, (_, at) => (1000 * (at + 1)) / slots);
  const policy = { slots, reserved: 0, people: 0, weights, shares: SHARES, lowAgeMs: 300_000 };
  const running = restsMs.map((restMs) => ({ queue: 'tasks' as const, priority: 5, restMs }));
  const own = { ...USUAL, acceptedAt: 0, costMs: 1000 };
  const cap = { max: 1000, reserved: 0 };
  return simulateStart({ policy, cap, running, front: [], line: null, own, now: 0, ...scene });
}

const startIn = (scene: Parameters<typeof follow>[0]): number | null => follow(scene).startMs;
const startsBefore = (scene: Parameters<typeof follow>[0]): number =>
  [...follow(scene).before.values()].reduce((sum, count) => sum + count, 0);

describe('the time until a task starts', () => {
  it('is that of as many ends of others as start before', () => {
    expect(startIn({ front: [waiting(99)] })).toBe(10_000);
  });

  it('is none while slots are free', () => {
    expect(startIn({ rests: [1000, 1000], front: [waiting(7)] })).toBe(0);
    expect(startIn({ rests: [1000, 1000], front: [waiting(8)] })).toBe(1000);
  });

  it('grows by what a queue of the same band gets beside it, until that one is empty', () => {
    expect(startIn({ front: [waiting(99), waiting(20, { queue: 'chat' })] })).toBe(12_000);
  });

  it('comes after no more of another queue than share the slots, however many wait there', () => {
    const startMs = startIn({ front: [waiting(9), waiting(100_000, { queue: 'chat' })] });
    expect(startMs).toBeGreaterThanOrEqual(1000);
    expect(startMs).toBeLessThanOrEqual(3000);
  });

  it('shares the slots of a band of its own', () => {
    const startMs = startIn({ front: [waiting(34), waiting(200, { queue: 'background', priority: 1 })] });
    expect(startMs).toBeGreaterThan(3500);
    expect(startMs).toBeLessThan(5500);
  });

  it('comes after all that is critical', () => {
    expect(startIn({ front: [waiting(50, { queue: 'critical', priority: 10 })] })).toBe(5100);
  });

  it('waits for the first slot that becomes free, however late', () => {
    expect(startIn({ slots: 2, rests: [60_000, 20_000] })).toBe(20_000);
    expect(startIn({ slots: 2, rests: [60_000, 20_000], front: [waiting(1)] })).toBe(21_000);
  });

  it('is about that of all in front where each that is followed stands for many', () => {
    expect(startIn({ front: [waiting(100_000)] })).toBeGreaterThan(9_500_000);
    expect(startIn({ front: [waiting(100_000)] })).toBeLessThan(10_500_000);
  });

  it('is that of the tasks before it in the places of its lane, and then of a slot', () => {
    const holder = { ...USUAL, restMs: 400, holdsPlace: true };
    const line = { places: 1, count: 3, costsMs: [2000] };
    expect(startIn({ running: [holder], line })).toBe(6400);
    expect(startIn({ running: [holder], line: { ...line, places: 2 } })).toBe(2400);
  });

  it('counts those at the fleet cap', () => {
    expect(startIn({ rests: [700, 900], cap: { max: 2, reserved: 0 } })).toBe(700);
  });

  it('is unknown where nothing ends', () => {
    expect(startIn({ slots: 0 })).toBeNull();
  });

  it('grows by what lower priorities of its own queue get beside it', () => {
    const high = { queue: 'tasks' as const, priority: 8, acceptedAt: 0, costMs: 1000 };
    const before = waiting(40, { priority: 8 });
    const unhindered = startIn({ own: high, front: [before] }) ?? 0;
    expect(startIn({ own: high, front: [before, waiting(100), waiting(100, { priority: 1 })] })).toBeGreaterThan(1.5 * unhindered);
  });
});

describe('what starts before a task', () => {
  const low = { queue: 'tasks' as const, priority: 1, acceptedAt: 0, costMs: 1000 };

  it('is what is before it at its priority, however many that are', () => {
    expect(startsBefore({ front: [waiting(37)] })).toBe(37);
    expect(startsBefore({ front: [waiting(5000)] })).toBe(5000);
  });

  it('is not all of a better priority, where its own has a share of the slots', () => {
    const running = Array.from({ length: 10 }, () => ({ queue: 'tasks' as const, priority: 8, restMs: 1000 }));
    expect(startsBefore({ running, own: low, front: [waiting(500, { priority: 8 })] })).toBeLessThan(10);
  });

  it('is nothing for a message behind a flood of another queue, whatever its priority', () => {
    const running = Array.from({ length: 10 }, (_, at) => ({ queue: 'tasks' as const, priority: 8, restMs: 1000 + at }));
    const own = { queue: 'chat' as const, priority: 5, acceptedAt: 0, costMs: 50 };
    expect(startsBefore({ running, own, front: [waiting(500, { queue: 'tasks', priority: 8 })] })).toBe(0);
  });

  it('is all that is critical', () => {
    expect(startsBefore({ front: [waiting(50, { queue: 'critical', priority: 10 })] })).toBe(50);
  });
});
