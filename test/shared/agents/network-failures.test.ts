import { describe, expect, it } from 'vitest';
import { readRetryAfter } from '#shared/agents/network-failures.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

function read(headers: Record<string, string>): number {
  return readRetryAfter(headers, NOW);
}

describe('the delay that a 429 requests', () => {
  it.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['parts of a second', { 'retry-after': '1.25' }, 1250],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT' }, 60_000],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1500],
    [
      'Retry-After rather than a reset',
      { 'retry-after': '2', 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '0' },
      2000,
    ],
    ['a duration', { 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
    ['a duration in milliseconds, rounded up to a second', { 'x-ratelimit-reset-requests': '120ms' }, 1000],
    ['a point in time in RFC 3339', { 'anthropic-ratelimit-tokens-reset': '2026-11-21T12:00:45Z' }, 45_000],
    ['a point in time in seconds', { 'x-ratelimit-reset': String(NOW / 1000 + 20) }, 20_000],
    ['a point in time in milliseconds', { 'x-ratelimit-reset': String(NOW + 20_000) }, 20_000],
    ['a number of seconds until the reset', { 'ratelimit-reset': '50' }, 50_000],
    [
      'the latest of the budgets that are spent',
      {
        'x-ratelimit-reset-requests': '10s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '20s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset': '500',
        'x-ratelimit-remaining': '3',
      },
      20_000,
    ],
    ['nothing', {}, 30_000],
    ['something unreadable', { 'retry-after': 'soon' }, 30_000],
    ['no time at all, which would spin', { 'retry-after': '0' }, 1000],
    ['the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 1000],
    ['more than a day', { 'retry-after': '999999' }, 86_400_000],
  ])('is read from %s', (_name, headers, expected) => {
    expect(read(headers)).toBe(expected);
  });
});
