import { describe, expect, it } from 'vitest';
import { grantedBefore, idleTime, maxAtOnce, passedOver, type SlotUse, withLanes } from './slot-times.ts';

const use = (task: string, startedAt: number, endedAt: number, more: Partial<SlotUse> = {}): SlotUse => ({
  task,
  tenant: 'default',
  queue: 'tasks',
  priority: 5,
  acceptedAt: 0,
  startedAt,
  endedAt,
  attempt: 1,
  ...more,
});

const granted = (task: string, grantedAt: number, more: Partial<SlotUse> = {}): SlotUse => use(task, 900, 1000, { grantedAt, ...more });

describe('idle time', () => {
  it('is counted from the first full moment to the last start, while something waits', () => {
    const uses = [use('a', 10, 110), use('b', 20, 120), use('c', 130, 200), use('d', 125, 210)];
    const { idleMs, slotMs, starts } = idleTime(uses, { total: 2, ordinary: 2 });
    expect(idleMs).toBe(10 + 2 * 5 + 5);
    expect(slotMs).toBe(2 * (130 - 20));
    expect(starts).toBe(2);
  });

  it('does not count slots that are kept for critical tasks, nor more of them than tasks wait', () => {
    const uses = [use('a', 0, 100), use('b', 0, 100), use('c', 150, 200)];
    expect(idleTime(uses, { total: 3, ordinary: 2 }).idleMs).toBe(50);
    const critical = use('d', 130, 200, { queue: 'critical', priority: 10, acceptedAt: 120 });
    expect(idleTime([...uses, critical], { total: 3, ordinary: 2 }).idleMs).toBe(50 + 10);
  });

  it('does not count a task as waiting while one before it has its lane', () => {
    const uses = [use('a', 0, 100), use('x', 0, 20), use('b', 0, 60, { lane: 'line' }), use('c', 80, 90, { lane: 'line' })];
    expect(idleTime(uses, { total: 3, ordinary: 3 }).idleMs).toBe(40 + 20);
    expect(idleTime(withLanes(uses), { total: 3, ordinary: 3 }).idleMs).toBe(20);
    const lost = [use('b', 10, 30, { lane: 'line' }), use('b', 60, 80, { lane: 'line', attempt: 2 }), use('c', 90, 99, { lane: 'line' })];
    expect(withLanes(lost).map(({ freeFrom }) => freeFrom)).toEqual([0, undefined, 80]);
  });

  it('does not count a lost task as waiting between its attempts', () => {
    const uses = [use('a', 0, 100), use('a', 1000, 1100, { attempt: 2 })];
    expect(idleTime(uses, { total: 1, ordinary: 1 }).idleMs).toBe(0);
  });
});

it('finds how many ran at once', () => {
  const uses = [use('a', 0, 100), use('b', 50, 120, { queue: 'critical' }), use('c', 100, 110)];
  expect(maxAtOnce(uses)).toEqual({ total: 2, ordinary: 1 });
});

describe('tasks that start before better ones', () => {
  const first = use('first', -10, 0);

  it('are found by band, priority and age when one runs at a time', () => {
    const uses = [first, use('a', 1, 10), use('b', 10, 20, { priority: 9 }), use('c', 20, 30, { queue: 'chat', priority: 6 })];
    expect(passedOver(uses, 1)).toEqual(['a (tasks, 5) before b (tasks, 9)']);
    const older = use('b', 10, 20, { acceptedAt: -2 });
    expect(passedOver([first, use('a', 0, 10, { acceptedAt: -1 }), older], 1)).toEqual(['a (tasks, 5) before b (tasks, 5)']);
    expect(passedOver([first, use('a', 1, 10), use('b', 10, 20, { acceptedAt: 5, priority: 9 })], 1)).toEqual([]);
  });

  it('may overtake as many as run at once, and are compared within their queue and band', () => {
    const [a, b, c] = [use('a', 1, 10), use('b', 2, 20, { priority: 7 }), use('c', 10, 20, { queue: 'chat', priority: 6 })];
    const begun = [first, use('second', -5, 0)];
    expect(passedOver([...begun, a, b, c], 2)).toEqual([]);
    const critical = use('d', 20, 30, { queue: 'critical', priority: 10, acceptedAt: -5 });
    expect(passedOver([...begun, a, b, c, critical], 2)).toEqual([
      'a (tasks, 5) before d (critical, 10)',
      'b (tasks, 7) before d (critical, 10)',
    ]);
  });
});

describe('tasks that are granted before better ones', () => {
  it('are found by priority and age, among those that waited', () => {
    const better = granted('b', 20, { priority: 9, queue: 'chat' });
    expect(grantedBefore([granted('a', 10), better], 0)).toEqual(['a (tasks, 5) before b (chat, 9)']);
    expect(grantedBefore([granted('a', 20), better], 0)).toEqual([]);
    expect(grantedBefore([granted('a', 10), { ...better, acceptedAt: 11 }], 0)).toEqual([]);
    const older = granted('b', 20, { acceptedAt: -5 });
    expect(grantedBefore([granted('a', 10), older], 4)).toEqual(['a (tasks, 5) before b (tasks, 5)']);
    expect(grantedBefore([granted('a', 10), older], 5)).toEqual([]);
  });

  it('do not wait while one before them has their lane', () => {
    const better = granted('b', 20, { priority: 9, freeFrom: 6 });
    expect(grantedBefore([granted('a', 10), better], 3)).toHaveLength(1);
    expect(grantedBefore([granted('a', 10), better], 4)).toEqual([]);
  });
});
