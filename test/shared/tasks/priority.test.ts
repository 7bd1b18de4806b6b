import { describe, expect, it } from 'vitest';
import { SOURCES } from '#shared/config/sources.ts';
import { defaultPriority, priorityBand, priorityNumber, prioritySchema, queueFor } from '#shared/tasks/priority.ts';

describe('a priority', () => {
  it.each([
    ['low', 1],
    ['normal', 5],
    ['high', 8],
    ['critical', 10],
    [7, 7],
  ] as const)('%s is %s', (priority, number) => {
    expect(priorityNumber(priority)).toBe(number);
  });

  it.each([0, 11, 2.5, 'urgent', '5', null])('%s is none', (priority) => {
    expect(prioritySchema.safeParse(priority).success).toBe(false);
  });
});

describe('the priority of a task that named none', () => {
  it.each([
    ['chat', 5],
    ['api', 5],
    ['proactive', 5],
    ['webhook', 5],
    ['schedule', 10],
    ['delegation', 4],
  ] as const)('from %s is %s', (source, priority) => {
    expect(defaultPriority({ source, channel: null })).toBe(priority);
  });

  it.each(['desktop', 'cli', 'ide'])('is 8 on the channel %s, where a person sits and waits', (channel) => {
    expect(defaultPriority({ source: 'api', channel })).toBe(8);
    expect(defaultPriority({ source: 'chat', channel })).toBe(8);
    expect(defaultPriority({ source: 'webhook', channel })).toBe(5);
  });

  it('is one below its parent’s, and never below 1', () => {
    expect(defaultPriority({ source: 'delegation', channel: null, parentPriority: 8 })).toBe(7);
    expect(defaultPriority({ source: 'delegation', channel: null, parentPriority: 1 })).toBe(1);
  });

  it.each([
    ['payment_intent.payment_failed', 8],
    ['security_advisory', 'critical'],
    ['security.payment', 'critical'],
    ['push', 5],
  ])('is, for a webhook about %s, %s, and ignores that for other sources', (eventType, priority) => {
    expect(defaultPriority({ source: 'webhook', channel: null, eventType })).toBe(priority);
    expect(defaultPriority({ source: 'api', channel: null, eventType })).toBe(5);
  });

  it.each([
    [1.4, 'critical', 'critical'],
    [2.9, 8, 10],
    [3, 5, 10],
  ] as const)(
    'is, with a deadline within %s times what it needs, %s, of a schedule %s, and of people as ever',
    (deadlineWithin, priority, scheduled) => {
      expect(defaultPriority({ source: 'proactive', channel: null, deadlineWithin })).toBe(priority);
      expect(defaultPriority({ source: 'schedule', channel: null, deadlineWithin })).toBe(scheduled);
      expect(defaultPriority({ source: 'api', channel: null, deadlineWithin })).toBe(5);
    },
  );

  it('takes no notice of a parent when it was not delegated', () => {
    expect(defaultPriority({ source: 'api', channel: null, parentPriority: 9 })).toBe(5);
  });
});

describe('the queue of a task', () => {
  it.each([
    ['chat', 'chat'],
    ['api', 'tasks'],
    ['proactive', 'tasks'],
    ['delegation', 'tasks'],
    ['webhook', 'webhooks'],
    ['schedule', 'schedules'],
  ] as const)('from %s is %s', (source, queue) => {
    expect(queueFor(source, 5, false)).toBe(queue);
  });

  it.each(SOURCES)('from %s is critical by that name only', (source) => {
    expect(queueFor(source, 'critical', false)).toBe('critical');
    expect(queueFor(source, 10, false)).not.toBe('critical');
  });

  it.each(SOURCES)('from %s is background at priority 1, by name or number', (source) => {
    expect(queueFor(source, 'low', false)).toBe('background');
    expect(queueFor(source, 1, false)).toBe('background');
    expect(queueFor(source, 2, false)).not.toBe('background');
  });

  it.each(SOURCES)('from %s is remote at every priority when only some machines can run it', (source) => {
    for (const priority of ['critical', 'low', 5, 10] as const) expect(queueFor(source, priority, true)).toBe('remote');
  });
});

describe('the band of a priority', () => {
  it.each([
    ['tasks', 1, 'low'],
    ['tasks', 2, 'low'],
    ['tasks', 3, 'normal'],
    ['tasks', 7, 'normal'],
    ['tasks', 8, 'high'],
    ['schedules', 10, 'high'],
    ['critical', 10, 'critical'],
  ] as const)('in the queue %s, priority %s is %s', (queue, priority, band) => {
    expect(priorityBand(queue, priority)).toBe(band);
  });
});
