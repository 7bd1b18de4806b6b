import { expect, it } from 'vitest';
import { ClaimPace } from '#shared/ledger/claim/claim-pace.ts';

it('is what a process claimed in a tenth of a second, a moment ago', () => {
  let now = 1000;
  const pace = new ClaimPace(() => now);
  expect(pace.of('tasks')).toBe(0);
  for (let count = 0; count < 500; count += 1) pace.note('tasks');
  expect(pace.of('tasks')).toBe(0);
  now += 250;
  expect(pace.of('tasks')).toBe(200);
  expect(pace.of('chat')).toBe(0);
  for (let count = 0; count < 50; count += 1) pace.note('tasks');
  now += 250;
  expect(pace.of('tasks')).toBe(20);
  now += 1000;
  expect(pace.of('tasks')).toBe(0);
});
