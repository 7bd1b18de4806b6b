import { describe, expect, it } from 'vitest';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { slotsOf } from '#shared/queue/queue-names.ts';

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
