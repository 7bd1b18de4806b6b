import { describe, expect, it } from 'vitest';
import { readLimits, readRefusal } from '#shared/providers/read-answer.ts';

const NOW = Date.parse('2026-05-01T00:00:00Z');

describe('the limits in headers', () => {
  it.each([
    ['6m0s', 60, undefined],
    ['20.5s', 60, { limit: 60, remaining: 40, resetMs: 20_500 }],
    ['120ms', 60, { limit: 60, remaining: 40, resetMs: 120 }],
    ['1', 60, { limit: 60, remaining: 40, resetMs: 1000 }],
  ])('with a reset of %s are those of a minute, or none', (reset, limit, expected) => {
    const headers = {
      'x-ratelimit-limit-requests': `${limit}`,
      'x-ratelimit-remaining-requests': '40',
      'x-ratelimit-reset-requests': reset,
    };
    expect(readLimits({ status: 200, headers }, NOW)).toEqual(expected === undefined ? {} : { requests: expected });
  });

  it("are read in Anthropic's form, with a date", () => {
    const headers = {
      'anthropic-ratelimit-tokens-limit': '40000',
      'anthropic-ratelimit-tokens-remaining': '39000',
      'anthropic-ratelimit-tokens-reset': '2026-05-01T00:00:03Z',
    };
    expect(readLimits({ status: 200, headers }, NOW)).toEqual({ tokens: { limit: 40_000, remaining: 39_000, resetMs: 3000 } });
  });
});

describe('a refusal', () => {
  it.each([
    [
      { status: 503, headers: { 'retry-after': '2' } },
      { kind: 'cooldown', scope: 'endpoint', ms: 2000 },
    ],
    [{ status: 529 }, { kind: 'cooldown', scope: 'endpoint' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'cooldown', scope: 'model', ms: 7000 },
    ],
    [
      { status: 429, headers: { 'retry-after-ms': '250', 'retry-after': '7' } },
      { kind: 'cooldown', scope: 'model', ms: 250 },
    ],
    [
      { status: 429, headers: { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m2s' } },
      { kind: 'cooldown', scope: 'model', ms: 62_000 },
    ],
    [
      { status: 429, error: { code: 'insufficient_quota' } },
      { kind: 'wall', scope: 'account', reason: 'insufficient_quota' },
    ],
    [{ status: 402 }, { kind: 'wall', scope: 'account', reason: 'status 402' }],
    [
      { status: 429, error: { message: 'Rate limit reached on requests per day (RPD)' } },
      { kind: 'wall', scope: 'model' },
    ],
  ])('%j stops %j', (answer, expected) => {
    expect(readRefusal(answer, NOW)).toMatchObject(expected);
  });

  it('is no refusal of others when one request is larger than a minute', () => {
    const message = 'Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 50000.';
    expect(readRefusal({ status: 429, error: { code: 'rate_limit_exceeded', message } }, NOW)).toBeNull();
  });

  it.each([200, 400, 500, 503])('is no answer of %i without a time', (status) => {
    expect(readRefusal({ status }, NOW)).toBeNull();
  });
});
