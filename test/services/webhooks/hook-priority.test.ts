import { expect, test } from 'vitest';
import { choosePriority, hookPrioritySchema } from '../../../services/webhooks/hook.ts';

test.each([
  ['security_advisory.published', 'critical'],
  ['Security.alert', 'critical'],
  ['payment_intent.succeeded', 8],
  ['order.payment.failed', 8],
  ['push', 5],
])('without rules %s has priority %s', (eventType, priority) => {
  expect(choosePriority(null, eventType)).toBe(priority);
  expect(choosePriority({ other: 1 }, eventType)).toBe(priority);
});

test('one priority stands for all events, by number or name', () => {
  expect(choosePriority(3, 'security_advisory')).toBe(3);
  expect(choosePriority('critical', 'push')).toBe('critical');
});

test.each([
  ['pull_request', 'pull_request', true],
  ['pull_request', 'pull_request.opened', true],
  ['pull_request', 'pull_request_review', false],
  ['pull_request*', 'pull_request_review.submitted', true],
  ['*', 'anything', true],
  ['*.failed', 'invoice.payment.failed', true],
  ['*.failed', 'invoice.failed.x', false],
  ['invoice.*.failed', 'invoice.payment.failed', true],
  ['a*a', 'a', false],
  ['a*b*a', 'aba', true],
  ['a**a', 'aa', true],
  ['.', 'x', false],
])('the rule %s for the event %s: %s', (pattern, eventType, fits) => {
  expect(choosePriority({ [pattern]: 9 }, eventType)).toBe(fits ? 9 : 5);
});

test('the rule with the most literal characters wins, in whatever order they stand', () => {
  const rules = { '*': 1, 'pull_request*': 3, pull_request: 2, 'pull_request.opened': 'high' } as const;
  const reversed = Object.fromEntries(Object.entries(rules).toReversed());
  for (const order of [rules, reversed]) {
    expect(choosePriority(order, 'pull_request.opened')).toBe('high');
    expect([1, 2, 3]).toContain(choosePriority(order, 'pull_request.closed'));
    expect(choosePriority(order, 'pull_request_review')).toBe(3);
    expect(choosePriority(order, 'push')).toBe(1);
  }
  expect(choosePriority(rules, 'pull_request.closed')).toBe(choosePriority(reversed, 'pull_request.closed'));
});

test('a pattern of many stars is matched, which one that goes back and forth would not end', () => {
  expect(choosePriority({ [`${'*a'.repeat(49)}*b`]: 9 }, 'a'.repeat(100_000))).toBe(5);
});

test.each([
  0,
  11,
  2.5,
  'urgent',
  { x: 0 },
  { 'a b': 5 },
  { '': 5 },
  { x: { y: 1 } },
  Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`e${i}`, 1])),
])('the priority %j is refused', (priority) => {
  expect(hookPrioritySchema.safeParse(priority).success).toBe(false);
});
