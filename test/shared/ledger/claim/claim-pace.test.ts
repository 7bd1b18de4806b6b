import { expect, it } from 'vitest';
import { ClaimPace } from '#shared/ledger/claim/claim-pace.ts';

it('is what a process claimed in a quarter of a second: in the one before, or in this one once that is more', () => {
  let now = 1000;
  const pace = new ClaimPace(() => now);
  expect(pace.of('tasks')).toBe(0);
  for (let count = 0; count < 500; count += 1) pace.note('tasks');
  expect(pace.of('tasks')).toBe(500);
  now += 250;
  expect(pace.of('tasks')).toBe(500);
  expect(pace.of('chat')).toBe(0);
  for (let count = 0; count < 50; count += 1) pace.note('tasks');
  expect(pace.of('tasks')).toBe(500);
  now += 250;
  expect(pace.of('tasks')).toBe(50);
  now += 1000;
  expect(pace.of('tasks')).toBe(0);
});
