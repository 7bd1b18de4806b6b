import { expect, test } from 'vitest';
import { fieldInstant, zoneField } from '../../../../../services/dashboard/console/parts/zone-time.ts';

test.each([
  ['2026-11-23T09:00', 'Europe/Berlin', '2026-11-23T08:00:00.000Z'],
  ['2026-07-01T00:30', 'America/New_York', '2026-07-01T04:30:00.000Z'],
  ['2026-01-01T00:00', 'Pacific/Kiritimati', '2025-12-31T10:00:00.000Z'],
  ['2026-05-01T09:15', 'Asia/Kathmandu', '2026-05-01T03:30:00.000Z'],
  ['2026-05-01T09:15', 'UTC', '2026-05-01T09:15:00.000Z'],
])('%s in %s is one instant, in both directions', (field, tz, instant) => {
  expect(new Date(fieldInstant(field, tz)).toISOString()).toBe(instant);
  expect(zoneField(Date.parse(instant), tz)).toBe(field);
});

test.each([
  ['is shown twice is the first', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ['is left out is as late after the gap', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  ['follows the time shown twice', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
  ['follows the gap', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
])('a time that %s', (_what, field, instant) => {
  expect(new Date(fieldInstant(field, 'Europe/Berlin')).toISOString()).toBe(instant);
});
