import { describe, expect, it } from 'vitest';
import { failureFromModelAnswer } from '#shared/agents/network-failures.ts';
import { readTime, readTimeInWords } from '#shared/providers/answers/read-time.ts';
import { NO_ERROR, readLimits, readProviderError, readRefusal, readTokens, readWait, usageOf } from '#shared/providers/answers/index.ts';
import { priceUsage } from '#shared/usage/prices.ts';
import { NOW, REFUSED_ANSWERS } from '../../support/agents/provider-answers.ts';
import { USAGES } from '../../support/agents/provider-usages.ts';

const OTHERS = {
  'cooldown model': 'model cools down',
  'wall model': 'model is walled',
  'wall account': 'account is walled',
  'cooldown endpoint': 'endpoint cools down',
} as const;

describe('a refusal', () => {
  it.each(REFUSED_ANSWERS)('of $provider is $code, and $others', ({ status, headers = {}, body, code, retryAfterMs, others }) => {
    const answer = { status, headers, error: readProviderError(body, true) ?? undefined };
    const failure = failureFromModelAnswer(answer, NOW);
    const refusal = readRefusal(answer, NOW);
    expect({ code: failure.code, retryAfterMs: failure.retryAfterMs }).toEqual({ code, retryAfterMs });
    expect(refusal === null ? 'go on' : OTHERS[`${refusal.kind} ${refusal.scope}` as keyof typeof OTHERS]).toBe(others);
    // What both say of the time is the same, but for the bounds and the defaults of the failure.
    expect(refusal?.ms === undefined ? failure.retryAfterMs : Math.max(1000, Math.ceil(refusal.ms))).toBe(failure.retryAfterMs);
  });

  it.each([200, 400, 500, 503])('is no answer of %i without a time', (status) => {
    expect(readRefusal({ status }, NOW)).toBeNull();
  });

  it('names its reason by the code of its provider, else by the status', () => {
    const error = readProviderError({ error: { code: 'insufficient_quota', type: 'requests' } }) ?? undefined;
    expect([readRefusal({ status: 429, error }, NOW)?.reason, readRefusal({ status: 402 }, NOW)?.reason]).toEqual([
      'insufficient_quota',
      'status 402',
    ]);
  });
});

describe('a refusal that names a wait in words', () => {
  it.each([
    ['Retry-After: 12', 12_000],
    ['Retry after 30', 30_000],
    ['Please retry your request after 20 seconds.', 20_000],
    ['Try again in 1h2m3.5s', 3_723_500],
    ['Try again in a minute', 60_000],
    ['Please wait 5 minutes', 300_000],
    ['Please wait until 2026-05-01T00:05:00Z', 300_000],
    ['reset_at: 1777593630', 30_000],
    ['The quota resets at 9am UTC', 32_400_000],
    ['Try again later. At most 200 requests in 1 day', undefined],
    ['Please try another model', undefined],
  ])('is held so long: %s', (message, ms) => {
    expect(readTimeInWords(message, NOW)).toBe(ms);
  });

  it('counts the milliseconds of a header that says so', () => {
    expect(readWait({ 'x-ratelimit-reset-after-ms': '1500' }, NO_ERROR, NOW)).toBe(1500);
  });

  it.each(['999999999', '1000000000000', '99999999999999999999', `${(NOW + 1e12) / 1000}`])(
    'of %s holds other calls for a day at most',
    (wait) => {
      expect(readRefusal({ status: 429, headers: { 'retry-after': wait } }, NOW)?.ms).toBe(86_400_000);
      // A wall may stand to the end of a month, and without a time calls try where it ends.
      expect(readRefusal({ status: 402, headers: { 'retry-after': wait } }, NOW)).toMatchObject({ kind: 'wall', ms: undefined });
    },
  );
});

describe('the limits in headers', () => {
  it.each<[string, Record<string, string>, object]>([
    [
      'OpenAI',
      { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '40', 'x-ratelimit-reset-requests': '20.5s' },
      { requests: { limit: 60, remaining: 40, resetMs: 20_500 } },
    ],
    ['OpenAI, with a reset of more than a minute', { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-reset-requests': '6m0s' }, {}],
    ['OpenAI, in ms', { 'x-ratelimit-limit-tokens': '9', 'x-ratelimit-reset-tokens': '120ms' }, { tokens: { limit: 9, resetMs: 120 } }],
    [
      'Anthropic',
      {
        'anthropic-ratelimit-tokens-limit': '40000',
        'anthropic-ratelimit-tokens-remaining': '39000',
        'anthropic-ratelimit-tokens-reset': '2026-05-01T00:00:03Z',
        'anthropic-ratelimit-output-tokens-limit': '8000',
      },
      { tokens: { limit: 40_000, remaining: 39_000, resetMs: 3000 } },
    ],
    [
      'Mistral',
      { 'x-ratelimit-limit-req-minute': '720', 'x-ratelimit-remaining-req-minute': '717', 'x-ratelimit-limit-tokens-minute': '5000000' },
      { requests: { limit: 720, remaining: 717 }, tokens: { limit: 5_000_000 } },
    ],
    ['Cerebras', { 'x-ratelimit-limit-requests-day': '14400', 'x-ratelimit-limit-tokens-minute': '60000' }, { tokens: { limit: 60_000 } }],
    ['Together, of a second', { 'x-ratelimit-limit': '1', 'x-ratelimit-reset': '1', 'x-tokenlimit-limit': '20' }, {}],
    ['LiteLLM, of another', { 'llm_provider-x-ratelimit-limit-requests': '50' }, { requests: { limit: 50 } }],
    ['none at all', { 'x-ratelimit-limit-requests': 'many', date: 'Fri, 01 May 2026 00:00:00 GMT' }, {}],
  ])('of %s are those of a minute, or none', (_provider, headers, expected) => {
    expect(readLimits({ status: 200, headers }, NOW)).toEqual(expected);
  });
});

describe('the tokens of a call', () => {
  it.each(USAGES)('of %s are all that is paid for', (_provider, usage, [inputTokens, outputTokens, cachedInputTokens, reasoningTokens]) => {
    expect(readTokens(usage)).toEqual({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens });
  });

  it('cost what the provider asks for them, where it counts reasoning beside the completion', () => {
    const tokens = readTokens(USAGES.find(([provider]) => provider === 'xAI, reasoning beside')?.[1]);
    const prices = { grok: { inputUsdPerMTok: 1.25, cachedUsdPerMTok: 0.2, outputUsdPerMTok: 2.5 } };
    const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = tokens ?? {};
    expect(priceUsage(prices, 'grok', { inputTokens, outputTokens, cachedInputTokens })).toBe(23_286);
  });

  it.each<[string, object]>([
    ['OpenAI', { choices: [], usage: { prompt_tokens: 3 } }],
    ['Groq', { choices: [{}], x_groq: { usage: { prompt_tokens: 3 } } }],
    ['Moonshot', { choices: [{ usage: { prompt_tokens: 3 } }], usage: null }],
    ['Google', { usageMetadata: { promptTokenCount: 3 } }],
    ['Anthropic', { type: 'message_start', message: { usage: { input_tokens: 3 } } }],
  ])('are found where %s puts them', (_provider, chunk) => {
    expect(readTokens(usageOf({ ...chunk }))?.inputTokens).toBe(3);
  });

  it.each([null, 7, {}, { prompt_tokens: 'many' }, { prompt_tokens: -1 }, { prompt_tokens: 1e30 }])('are unknown in %j', (usage) => {
    expect(readTokens(usage)).toBeNull();
  });
});

describe('a body without an error', () => {
  it.each([
    { choices: [{ delta: { content: 'error' } }] },
    { choices: [], usage: { prompt_tokens: 1 } },
    { choices: [{ delta: {} }], error: null },
    { object: 'chat.completion.chunk', usage: { total_tokens: 2 } },
    { base_resp: { status_code: 0, status_msg: '' }, choices: [] },
    'text',
    null,
    [],
  ])('is none: %j', (body) => {
    expect(readProviderError(body)).toBeNull();
  });

  it('is read within bounds, however deep and long it is', () => {
    let deep: object = { message: 'inside' };
    for (let level = 0; level < 5000; level += 1) deep = { error: deep };
    const many = Array.from({ length: 100_000 }, (_, index) => ({ error: { code: `c${index}` } }));
    expect(readProviderError(deep)?.message).toBe('');
    expect(readProviderError(many)?.names.length).toBeLessThan(500);
  });
});

it.each([
  ['10 requests', undefined],
  ['', undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['1h2m3.5s', 3_723_500],
  [' 7 ', 7000],
  ['120, 120', 120_000],
  ['6M0S', 360_000],
  ['30 seconds', 30_000],
  ['2026-05-01T00:00:30', 30_000],
  ['Friday, 01-May-26 00:00:30 GMT', 30_000],
  ['Thu, 30 Apr 2026 00:00:00 GMT', 0],
  [`${NOW + 30_000}`, 30_000],
  ['1000000000000', 1e15],
])('the time %j is %s', (given, ms) => {
  expect(readTime(given, NOW)).toBe(ms);
});
