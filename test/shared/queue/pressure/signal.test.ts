import { describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { levelOf, retryAfterMs, signalOf } from '#shared/queue/pressure/signal.ts';

const settings = settingsSchema.parse({
  limits: { backpressure: { warningDepth: 10, criticalDepth: 20, warningWaitMs: 1000, criticalWaitMs: 5000 } },
}).limits.backpressure;

describe('a level', () => {
  it.each([
    [9, 999, 'none'],
    [10, 0, 'warning'],
    [0, 1000, 'warning'],
    [20, null, 'critical'],
    [0, 5000, 'critical'],
    [9, null, 'none'],
  ] as const)('of %s tasks and a wait of %s ms is %s', (depth, waitMs, level) => {
    expect(levelOf({ depth, waitMs }, settings, 'none', 0.9)).toBe(level);
  });

  it('ends only below nine tenths of both limits', () => {
    expect(levelOf({ depth: 18, waitMs: 0 }, settings, 'critical', 0.9)).toBe('critical');
    expect(levelOf({ depth: 17, waitMs: 4500 }, settings, 'critical', 0.9)).toBe('critical');
    expect(levelOf({ depth: 17, waitMs: 4499 }, settings, 'critical', 0.9)).toBe('warning');
    expect(levelOf({ depth: 8, waitMs: 899 }, settings, 'warning', 0.9)).toBe('none');
  });

  it('never comes from a wait that is not limited', () => {
    expect(levelOf({ depth: 0, waitMs: 1e9 }, { ...settings, warningWaitMs: null, criticalWaitMs: null }, 'none', 0.9)).toBe('none');
  });
});

describe('the time to try again', () => {
  it('is when the depth is below the level at the pace of the last starts', () => {
    expect(retryAfterMs({ depth: 28, waitMs: null }, 1000, settings)).toBe(10_000);
  });

  it('is when the wait is below the level, where that takes longer', () => {
    expect(retryAfterMs({ depth: 28, waitMs: 24_500 }, 1000, settings)).toBe(20_000);
  });

  it('has bounds, and a value where nothing has ended yet', () => {
    expect(retryAfterMs({ depth: 21, waitMs: null }, 1, settings)).toBe(5000);
    expect(retryAfterMs({ depth: 1e6, waitMs: null }, 1000, settings)).toBe(600_000);
    expect(retryAfterMs({ depth: 21, waitMs: null }, null, settings)).toBe(30_000);
  });
});

const load = { depth: 12, waitMs: 90_400 };

function recommended(facts: { scope: 'tenant' | 'fleet'; bound: 'caps' | 'slots' }): string | undefined {
  return signalOf({ level: 'critical', load, slowDown: null, ...facts })?.recommendations.at(-1);
}

describe('a signal', () => {
  it('has the fields of a proactive engine beside our own, its wait in seconds', () => {
    expect(signalOf({ level: 'warning', scope: 'tenant', load, slowDown: 2 })).toEqual({
      type: 'backpressure',
      level: 'warning',
      scope: 'tenant',
      queueDepth: 12,
      queue_depth: 12,
      estimatedWaitMs: 90_400,
      estimated_wait_time: 90,
      slowDown: 2,
      slow_down: 2,
      recommendations: ['Send proactive work less often', 'Delay what is not urgent'],
    });
  });

  it('recommends what gives the tasks their places: higher caps, or more workers', () => {
    expect(recommended({ scope: 'tenant', bound: 'caps' })).toMatch(/^Raise the tenant's caps/);
    expect(recommended({ scope: 'tenant', bound: 'slots' })).toBe('Add workers or daemons');
    expect(recommended({ scope: 'fleet', bound: 'caps' })).toBe('Add workers or daemons');
  });

  it('has no factor where sending is to stop, and there is none without a level', () => {
    expect(signalOf({ level: 'critical', scope: 'fleet', load, slowDown: 2 })).toMatchObject({ level: 'critical', slowDown: null });
    expect(signalOf({ level: 'none', scope: 'tenant', load, slowDown: 2 })).toBeNull();
  });
});
