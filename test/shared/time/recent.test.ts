import { describe, expect, it } from 'vitest';
import { Recent } from '#shared/time/recent.ts';

describe('recent values', () => {
  it('are found by their key until they are deleted', () => {
    const recent = new Recent<string, number>({ maxEntries: 2 });
    recent.set('a', 1);
    expect(recent.get('a')).toBe(1);
    expect(recent.get('b')).toBeUndefined();
    recent.delete('a');
    expect(recent.get('a')).toBeUndefined();
  });

  it('forget the value that was set longest ago once there are too many', () => {
    const recent = new Recent<string, number>({ maxEntries: 2 });
    recent.set('a', 1);
    recent.set('b', 2);
    recent.set('a', 3);
    recent.set('c', 4);
    expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([3, undefined, 4]);
  });

  it('are forgotten when they are as old as they may be, counted from when they were set last', () => {
    let now = 0;
    const recent = new Recent<string, number>({ maxEntries: 2, keepMs: 100, now: () => now });
    recent.set('a', 1);
    now = 60;
    recent.set('a', 2);
    now = 159;
    expect(recent.get('a')).toBe(2);
    now = 160;
    expect(recent.get('a')).toBeUndefined();
  });

  it('are kept until they make room for others without a bound on their age', () => {
    let now = 0;
    const recent = new Recent<string, number>({ maxEntries: 1, now: () => now });
    recent.set('a', 1);
    now = Number.MAX_SAFE_INTEGER;
    expect(recent.get('a')).toBe(1);
  });
});
