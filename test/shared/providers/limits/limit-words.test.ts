import { describe, expect, it } from 'vitest';
import { findReset, readLimit, readUntil } from '#shared/providers/limits/limit-words.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const UTC = { nowMs: NOW, zone: 'UTC' };

/** What programs and providers write, as they were seen in their issues, with their end as of now in UTC; null where they name none. */
const FORMS: readonly (readonly [text: string, until: string | null])[] = [
  // claude-code
  ['5-hour limit reached ∙ resets 3pm', '2026-11-28T15:00:00Z'],
  ['Weekly limit reached ∙ resets Dec 3, 9am (UTC)', '2026-12-03T09:00:00Z'],
  ['resets Dec 3, 9am (UTC)', '2026-12-03T09:00:00Z'],
  ["You've hit your limit · resets at 10:30pm (America/New_York)", '2026-11-29T03:30:00Z'],
  ["You've hit your session limit · resets 3pm (Europe/Amsterdam) · progress saved", '2026-11-28T14:00:00Z'],
  ['You’ve hit your limit for Claude messages. Limits will reset at 9:30 AM. View your usage details.', '2026-11-29T09:30:00Z'],
  ['Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).', '2026-11-28T18:00:00Z'],
  ['Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).', '2026-11-28T18:00:00Z'],
  ['Claude AI usage limit reached|1795870800', '2026-11-28T13:00:00Z'],
  [
    '429 {"error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit. Please try again later."}}',
    null,
  ],
  // codex
  ["You've hit your usage limit. Upgrade to Pro (https://x.test/a) or try again at Nov 30th, 2026 3:04 PM.", '2026-11-30T15:04:00Z'],
  [
    "You've hit your usage limit. Visit https://x.test to purchase more credits or try again at Jan 1st, 2027 12:57 AM.",
    '2027-01-01T00:57:00Z',
  ],
  ["You've hit your usage limit. Send a request to your admin or try again at 12:16 PM.", '2026-11-28T12:16:00Z'],
  ["You've hit your usage limit. Try again in 2 hours 30 minutes.", '2026-11-28T14:30:00Z'],
  ["You've hit your usage limit or try again in 2 days 17 hours 14 minutes.", '2026-12-01T05:14:00Z'],
  ['You have reached your usage limit, try again in 3 days 4 hours', '2026-12-01T16:00:00Z'],
  ['The weekly limit is reached. It resets in 5d 5h.', '2026-12-03T17:00:00Z'],
  ['{"error":{"type":"usage_limit_reached","resets_at":1795870800,"resets_in_seconds":9}}', '2026-11-28T13:00:00Z'],
  ['{"error":{"type":"usage_limit_reached","resets_in_seconds":3600}}', '2026-11-28T13:00:00Z'],
  ['exceeded retry limit, last status: 429 Too Many Requests', null],
  // gemini-cli
  ['You have exhausted your capacity on this model. Your quota will reset after 3h20m15s.', '2026-11-28T15:20:15Z'],
  ['Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3.', '2026-11-29T01:57:00Z'],
  ['You have exhausted your daily quota on this model.', null],
  ['Resource has been exhausted (e.g. check quota).', null],
  // copilot
  ["You've hit a rate limit within a specific time period. Please try again in 51 hours. Please review our terms.", '2026-11-30T15:00:00Z'],
  ["You've reached your weekly rate limit. Please wait for your limit to reset on December 20, 2026 at 2:00 AM", '2026-12-20T02:00:00Z'],
  ['Sorry, your request was rate-limited. Please wait 587 hours 33 minutes before trying again.', '2026-12-22T23:33:00Z'],
  // cursor-agent
  ["You've hit your free requests limit. Your usage limits will reset when your monthly cycle ends on 12/17/2026.", '2026-12-17T00:00:00Z'],
  // opencode, qwen-code, aider
  ['Monthly usage limit reached', null],
  ['429 Free allocated quota exceeded.', null],
  ['litellm.RateLimitError: AnthropicException - Retry-After: 3600', '2026-11-28T13:00:00Z'],
  ['Rate limit reached for gpt-5. Please try again in 7m12.5s.', '2026-11-28T12:07:12.500Z'],
  // Other orders, zones and spaces
  ['Weekly limit reached, resets 2026-12-03T09:00:00+02:00', '2026-12-03T07:00:00Z'],
  ['Weekly limit reached, resets 2026-12-03 09:00 UTC', '2026-12-03T09:00:00Z'],
  ['Limit reached. Resets Monday at 9am', '2026-11-30T09:00:00Z'],
  ['limit reached, resets tomorrow at 9:15 am PST', '2026-11-29T17:15:00Z'],
  ['quota exceeded, resets at 00:00 UTC+8', '2026-11-28T16:00:00Z'],
  ['limit reached · resets at midnight', '2026-11-29T00:00:00Z'],
  ['usage limit reached, resets 3 Dec 2026 09:00 UTC', '2026-12-03T09:00:00Z'],
  ['usage limit reached, resets 2026/12/03 09:00', '2026-12-03T09:00:00Z'],
  ['usage limit reached, resets 3.12.2026 09:00', '2026-12-03T09:00:00Z'],
  ['usage limit reached, resets in 400 days', null],
  ['Claude AI usage limit reached|9999999999', null],
  ['usage limit reached, resets 9am on Dec 3', '2026-12-03T09:00:00Z'],
  ['usage limit reached, resets at 15:00', '2026-11-28T15:00:00Z'],
  ['usage limit reached, resets in 02:15:30', '2026-11-28T14:15:30Z'],
  ['usage limit reached, try again in an hour', '2026-11-28T13:00:00Z'],
  ['limit reached, resets on Fri, Dec 4 at 9:00\u202fAM EST', '2026-12-04T14:00:00Z'],
];

describe('what a program says of a limit', () => {
  it.each(FORMS)('is read: %s', (text, until) => {
    expect(readLimit(text, UTC)).toEqual({ untilMs: until === null ? null : Date.parse(until) });
  });

  it.each([
    'Reached max turns (10)',
    'Prompt is too long',
    'The request exceeded the context limit',
    'output token limit exceeded',
    'file size limit exceeded',
    'Approaching usage limit · resets at 3pm',
    "You've used 90% of your weekly limit, resets Dec 3",
    'TypeError: rateLimit is not a function',
    'Error: 4291 tests failed',
    'unexpected status 500',
  ])('is none in: %s', (text) => {
    expect(readLimit(text, UTC)).toBeNull();
  });

  it('is of the nearest year, across New Year, and names no end that is past', () => {
    const eve = { nowMs: Date.parse('2026-12-31T22:00:00Z'), zone: 'UTC' };
    expect(findReset('resets Jan 2, 9am (UTC)', eve)).toBe(Date.parse('2027-01-02T09:00:00Z'));
    expect(findReset('resets Dec 30, 9am', { ...eve, nowMs: Date.parse('2027-01-01T01:00:00Z') })).toBeNull();
    // It is read a moment after the time that it names, and not a day before the next one.
    expect(readLimit('5-hour limit reached ∙ resets 11:59am', UTC)).toEqual({ untilMs: null });
  });

  it('is by the clock of the zone where it has none of its own, also when the clocks change', () => {
    const berlin = { nowMs: Date.parse('2026-10-24T20:00:00Z'), zone: 'Europe/Berlin' };
    expect(findReset('resets 11pm', berlin)).toBe(Date.parse('2026-10-24T21:00:00Z'));
    expect(findReset('resets Oct 25, 9am', berlin)).toBe(Date.parse('2026-10-25T08:00:00Z'));
  });
});

describe('a time that a program gives as a value', () => {
  it.each([
    [1_795_870_800, '2026-11-28T13:00:00Z'],
    [1_795_870_800_000, '2026-11-28T13:00:00Z'],
    ['1795870800', '2026-11-28T13:00:00Z'],
    ['2026-12-03T09:00:00Z', '2026-12-03T09:00:00Z'],
    [90, '2026-11-28T12:01:30Z'],
    ['in 2 hours', '2026-11-28T14:00:00Z'],
    ['soon', null],
    [null, null],
    [Number.NaN, null],
    [Infinity, null],
    [1e15, null],
    [1e300, null],
    [1_000_000_000_000, null],
    ['9999999999999', null],
  ])('%s', (value, until) => {
    expect(readUntil(value, UTC)).toBe(until === null ? null : Date.parse(until));
  });
});
