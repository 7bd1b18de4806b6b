import { describe, expect, it } from 'vitest';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { planSlots, slotsOf } from '#shared/queue/queue-names.ts';

const slots = (queues: SettingsInput['queues'] = {}, spec?: string): Map<string, number> => slotsOf(settingsSchema.parse({ queues }), spec);

function shareOfCritical(all: Map<string, number>): number {
  const forTasks = [...all].filter(([name]) => name !== 'maintenance').reduce((sum, [, count]) => sum + count, 0);
  return (all.get('critical') ?? 0) / forTasks;
}

const NONE = { slots: 0 };
const quiet = { chat: NONE, webhooks: NONE, schedules: NONE, background: NONE };

describe('the slots of a worker', () => {
  it.each([
    ['without a setting', {}],
    ['with many for chats', { chat: { slots: 200 } }],
    ['with a few', { ...quiet, tasks: { slots: 4 } }],
  ])('%s are a fifth for what is critical', (_which, queues) => {
    expect(shareOfCritical(slots(queues))).toBeGreaterThanOrEqual(0.2);
    expect(shareOfCritical(slots(queues))).toBeLessThan(0.25);
  });

  it('are one for what is critical, however few there are', () => {
    expect(slots({ ...quiet, tasks: { slots: 1 } }).get('critical')).toBe(1);
  });

  it('come from MUSTER_QUEUES, else from the configuration', () => {
    expect(slots({ critical: { slots: 0 } }).get('critical')).toBe(0);
    expect(slots({ chat: { slots: 3 } }).get('chat')).toBe(3);
    expect([...slots({ chat: { slots: 3 } }, 'chat=7,tasks=1')]).toEqual([
      ['chat', 7],
      ['tasks', 1],
    ]);
  });
});

const plan = (input: SettingsInput, spec?: string): { slots: number; reserved: number; served: string[] } => {
  const { slots: all, reserved, weights } = planSlots(settingsSchema.parse(input), spec);
  return { slots: all, reserved, served: [...weights.keys()] };
};

describe('all slots of a worker', () => {
  it('are the sum of what its queues are sure of', () => {
    expect(plan({})).toMatchObject({ slots: 28, reserved: 6 });
    expect(plan({ queues: { chat: { slots: 18 }, critical: { slots: 2 } } })).toMatchObject({ slots: 34, reserved: 2 });
    expect(plan({}, 'critical=2,chat=4,tasks=6,maintenance=1')).toEqual({ slots: 12, reserved: 2, served: ['critical', 'chat', 'tasks'] });
  });

  it('are worker.slots, of which critical has its share, unless MUSTER_QUEUES has a sum', () => {
    expect(plan({ worker: { slots: 50 } })).toMatchObject({ slots: 50, reserved: 10 });
    expect(plan({ worker: { slots: 50 } }, 'tasks=3')).toMatchObject({ slots: 3, reserved: 0 });
  });

  it.each([
    [1, 0],
    [2, 1],
    [5, 1],
    [6, 2],
  ])('are never all kept for critical: of %d it has %d', (all, kept) => {
    expect(plan({ worker: { slots: all } })).toMatchObject({ slots: all, reserved: kept });
  });

  it('are all for critical where a worker serves nothing else, and none where it serves no tasks', () => {
    expect(plan({}, 'critical=3')).toMatchObject({ slots: 3, reserved: 0 });
    expect(plan({ worker: { slots: 9 } }, 'deliveries=5')).toEqual({ slots: 0, reserved: 0, served: [] });
  });
});
