import { describe, expect, it } from 'vitest';
import { readZone } from '#shared/schedules/rules/wall-time.ts';

describe('a zone', () => {
  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['US/Pacific', 'US/Pacific'],
    ['utc', 'UTC'],
    ['EST', 'EST'],
  ])('named %s is %s', (name, zone) => {
    expect(readZone(name)).toBe(zone);
  });

  it("is the host's without a name", () => {
    expect(readZone()).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
    expect(readZone(null)).toBe(readZone());
  });

  // Abbreviations mean several zones, and the runtime would take one of them.
  it.each(['', 'Mars/Olympus', '+02:00', '-05', 'IST', 'BST', 'PST', 'local', '__proto__', `A/${'b'.repeat(10_000)}`])(
    'named %s does not exist',
    (name) => {
      expect(() => readZone(name)).toThrow(expect.objectContaining({ code: 'schedule.unknown-zone' }));
    },
  );
});
