/** How providers refuse, as they document it or were seen to: what each answer is to mean for the attempt and for other calls. */
export interface RefusedAnswer {
  provider: string;
  /** Absent for an error within a stream. */
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
  code: string;
  /** Until the task may come again; undefined where nothing is to be read. */
  retryAfterMs?: number | undefined;
  others: 'go on' | 'model cools down' | 'model is walled' | 'account is walled' | 'endpoint cools down';
}

/** The time that the fixtures' dates are read against. */
export const NOW = Date.parse('2026-05-01T00:00:00Z');

const google = (quotaId: string, retryDelay: string): unknown => [
  {
    error: {
      code: 429,
      message: 'You exceeded your current quota, please check your plan and billing details.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaMetric: 'requests', quotaId, quotaValue: '250' }] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
      ],
    },
  },
];
const openai = (message: string, rest: object = { type: 'tokens', code: 'rate_limit_exceeded' }): unknown => ({
  error: { message, ...rest },
});
const throttled = { code: 'THROTTLED', others: 'model cools down' } as const;
const walled = { code: 'PROVIDER_QUOTA', others: 'account is walled' } as const;
const overloaded = { code: 'PROVIDER_ERROR', others: 'endpoint cools down' } as const;
const wrong = { code: 'INVALID_INPUT', others: 'go on' } as const;
const away = { code: 'PROVIDER_ERROR', others: 'go on' } as const;

export const REFUSED_ANSWERS: readonly RefusedAnswer[] = [
  {
    provider: 'OpenAI, in words',
    status: 429,
    body: openai('Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 20s.'),
    retryAfterMs: 20_000,
    ...throttled,
  },
  {
    provider: 'OpenAI, in ms in words',
    status: 429,
    body: openai('Rate limit reached. Please try again in 5120ms. Visit https://platform.openai.com'),
    retryAfterMs: 5120,
    ...throttled,
  },
  {
    provider: 'OpenAI, in minutes and seconds in words',
    status: 429,
    body: openai('Rate limit reached. Please try again in 6m12.5s.'),
    retryAfterMs: 372_500,
    ...throttled,
  },
  {
    provider: 'OpenAI, resets',
    status: 429,
    headers: {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1m30s',
      'x-ratelimit-remaining-tokens': '900',
      'x-ratelimit-reset-tokens': '9m',
    },
    body: openai('Slow down'),
    retryAfterMs: 90_000,
    ...throttled,
  },
  {
    provider: 'OpenAI, of a day',
    status: 429,
    body: openai('Rate limit reached on requests per day (RPD): Limit 200. Please try again in 7m12s.'),
    code: 'THROTTLED',
    retryAfterMs: 432_000,
    others: 'model is walled',
  },
  {
    provider: 'OpenAI, no money',
    status: 429,
    body: openai('You exceeded your current quota', { type: 'insufficient_quota', code: 'insufficient_quota' }),
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'OpenAI, a request that is larger than a minute',
    status: 429,
    body: openai('Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 50000.'),
    ...wrong,
  },
  {
    provider: 'OpenAI, busy',
    status: 503,
    headers: { 'retry-after': '4' },
    body: openai('The engine is currently overloaded, please try again later', { type: 'server_error' }),
    retryAfterMs: 4000,
    code: 'PROVIDER_ERROR',
    others: 'endpoint cools down',
  },
  {
    provider: 'OpenAI, in a stream',
    body: { message: 'Rate limit reached. Please try again in 2s.', type: 'tokens', code: 'rate_limit_exceeded' },
    retryAfterMs: 2000,
    ...throttled,
  },
  {
    provider: 'OpenAI, no money in a stream',
    body: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Azure, in words',
    status: 429,
    body: {
      error: {
        code: '429',
        message:
          'Requests to the ChatCompletions_Create Operation have exceeded call rate limit of your tier. Please retry after 2 seconds.',
      },
    },
    retryAfterMs: 2000,
    ...throttled,
  },
  {
    provider: 'Azure, by milliseconds',
    status: 429,
    headers: { 'retry-after-ms': '1500', 'retry-after': '2' },
    body: { error: { code: 'RateLimitReached', message: 'Too many tokens' } },
    retryAfterMs: 1500,
    ...throttled,
  },
  {
    provider: 'Azure API Management',
    status: 429,
    body: { statusCode: 429, message: 'Token limit is exceeded. Try again in 22 seconds.' },
    retryAfterMs: 22_000,
    ...throttled,
  },
  {
    provider: 'Azure API Management, of calls',
    status: 403,
    body: { statusCode: 403, message: 'Out of call volume quota. Quota will be replenished in 01:12:00.' },
    retryAfterMs: 4_320_000,
    ...walled,
  },
  {
    provider: 'Anthropic',
    status: 429,
    headers: { 'anthropic-ratelimit-input-tokens-remaining': '0', 'anthropic-ratelimit-input-tokens-reset': '2026-05-01T00:00:45Z' },
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'This request would exceed the rate limit of 20,000 input tokens per minute.' },
    },
    retryAfterMs: 45_000,
    ...throttled,
  },
  {
    provider: 'Anthropic, overloaded',
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ...overloaded,
  },
  {
    provider: 'Anthropic, overloaded in a stream',
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ...overloaded,
  },
  {
    provider: 'Anthropic, no money',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Anthropic, the limit of a month',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'You have reached your specified API usage limits. You will regain access on 2026-05-01 at 09:00 UTC.',
      },
    },
    retryAfterMs: 32_400_000,
    ...walled,
  },
  {
    provider: 'Google, of a minute',
    status: 429,
    body: google('GenerateContentInputTokensPerModelPerMinute-FreeTier', '37s'),
    retryAfterMs: 37_000,
    ...throttled,
  },
  {
    provider: 'Google, of a day',
    status: 429,
    body: google('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '36.4s'),
    code: 'THROTTLED',
    retryAfterMs: 36_400,
    others: 'model is walled',
  },
  {
    provider: 'Google, in words',
    status: 429,
    body: [
      {
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          message: 'Quota exceeded for metric: requests, limit: 20\nPlease retry in 36.429760048s.',
        },
      },
    ],
    retryAfterMs: 36_430,
    ...throttled,
  },
  {
    provider: 'Google, within the text of a gateway',
    status: 429,
    body: {
      error: {
        message: JSON.stringify({ error: { code: 429, message: 'Resource exhausted', details: [{ retryDelay: '26s' }] } }),
        code: 429,
        status: 'Too Many Requests',
      },
    },
    retryAfterMs: 26_000,
    ...throttled,
  },
  {
    provider: 'Google, busy',
    status: 503,
    body: [{ error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' } }],
    ...away,
  },
  {
    provider: 'xAI, no money',
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error: 'Your team has used all available credits or reached its monthly spending limit.',
    },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'xAI, a text as error',
    status: 429,
    body: { code: 'Some resource has been exhausted', error: 'Too many requests for team. Your team has hit its rate limit.' },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'OpenRouter, free models of a day',
    status: 429,
    body: {
      error: {
        message: 'Rate limit exceeded: free-models-per-day.',
        code: 429,
        metadata: { headers: { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${NOW + 60_000}` } },
      },
    },
    code: 'THROTTLED',
    retryAfterMs: 60_000,
    others: 'model is walled',
  },
  {
    provider: 'OpenRouter, the error of another within its own',
    status: 429,
    body: {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: { raw: '{"error":{"message":"Slow down, try again in 8s","code":"rate_limit_exceeded"}}', provider_name: 'Other' },
      },
    },
    retryAfterMs: 8000,
    ...throttled,
  },
  {
    provider: 'OpenRouter, no money',
    status: 402,
    body: { error: { message: 'This request requires more credits', code: 402 } },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'OpenRouter, the limit of a key',
    status: 403,
    body: { error: { message: 'Key limit exceeded (monthly limit). Manage it using https://openrouter.ai/settings/keys', code: 403 } },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'a gateway with a wait of 0 before its words',
    status: 429,
    headers: { 'retry-after': '0' },
    body: openai('Rate limit reached. Please try again in 20s.'),
    retryAfterMs: 20_000,
    ...throttled,
  },
  {
    provider: 'a gateway with a wait of 0 before its reset',
    status: 429,
    headers: { 'retry-after': '0', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '40s' },
    body: openai('Slow down'),
    retryAfterMs: 40_000,
    ...throttled,
  },
  { provider: 'a gateway that answers all by 500', status: 500, body: { error: 'Rate limit reached' }, retryAfterMs: 30_000, ...throttled },
  { provider: 'OpenRouter, in a stream', body: { code: 502, message: 'Provider disconnected' }, ...away },
  {
    provider: 'Groq, of tokens',
    status: 429,
    headers: { 'retry-after': '7' },
    body: openai('Rate limit reached for model `llama` on tokens per minute (TPM): Limit 6000. Please try again in 6.59s.'),
    retryAfterMs: 7000,
    ...throttled,
  },
  {
    provider: 'Groq, a request that is too large',
    status: 413,
    body: openai('Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000'),
    ...wrong,
  },
  {
    provider: 'Groq, no capacity',
    status: 498,
    body: openai('Flex tier capacity exceeded', { type: 'server_error', code: 'capacity_exceeded' }),
    ...overloaded,
  },
  {
    provider: 'Mistral',
    status: 429,
    body: { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', param: null, code: '1300', raw_status_code: 429 },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'Mistral, by size',
    status: 429,
    headers: { 'ratelimitbysize-remaining': '0', 'ratelimitbysize-reset': '21', 'x-ratelimit-remaining-req-minute': '7' },
    body: { message: 'Requests rate limit exceeded' },
    retryAfterMs: 21_000,
    ...throttled,
  },
  {
    provider: 'Mistral, no capacity',
    status: 429,
    body: {
      object: 'error',
      message: 'Service tier capacity exceeded for this model.',
      type: 'service_tier_capacity_exceeded',
      code: '3505',
    },
    ...overloaded,
  },
  {
    provider: 'DeepSeek, no money',
    status: 402,
    body: openai('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' }),
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'DeepSeek, busy',
    status: 503,
    headers: { 'retry-after': '3' },
    body: openai('The service is busy', { code: 'service_unavailable_error' }),
    retryAfterMs: 3000,
    ...overloaded,
  },
  {
    provider: 'Together',
    status: 429,
    headers: { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3', 'x-tokenlimit-remaining': '400' },
    body: openai('You have reached the rate limit', { type: 'model_rate_limit' }),
    retryAfterMs: 3000,
    ...throttled,
  },
  {
    provider: 'Together, no credits',
    status: 402,
    body: openai('Credit limit exceeded', { type: 'credit_limit' }),
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Ollama, its hosted models',
    status: 429,
    body: { error: 'too many concurrent requests' },
    retryAfterMs: 30_000,
    ...throttled,
  },
  { provider: 'Ollama, no such model', status: 404, body: { error: "model 'x' not found" }, code: 'RESOURCE_NOT_FOUND', others: 'go on' },
  {
    provider: 'vLLM',
    status: 400,
    body: {
      object: 'error',
      message: "This model's maximum context length is 8192 tokens.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    ...wrong,
  },
  { provider: 'vLLM, in a stream', body: { object: 'error', message: 'EngineCore died', type: 'InternalServerError', code: 500 }, ...away },
  {
    provider: 'LiteLLM, a budget',
    status: 400,
    body: openai('Budget has been exceeded! Current cost: 1.2, Max budget: 1.0', { type: 'budget_exceeded', code: '400' }),
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'LiteLLM, its own limit',
    status: 429,
    body: openai('Rate limit exceeded for api_key. Limit type: requests. Limit resets at: 2026-05-01 00:00:25 UTC', {
      type: 'throttling_error',
      code: '429',
    }),
    retryAfterMs: 25_000,
    ...throttled,
  },
  {
    provider: 'LiteLLM, headers of another',
    status: 429,
    headers: { 'llm_provider-x-ratelimit-remaining-tokens': '0', 'llm_provider-x-ratelimit-reset-tokens': '14s' },
    body: openai('litellm.RateLimitError: RateLimitError', { type: 'throttling_error', code: '429' }),
    retryAfterMs: 14_000,
    ...throttled,
  },
  {
    provider: 'Cerebras, of a day',
    status: 429,
    headers: {
      'x-ratelimit-remaining-requests-day': '0',
      'x-ratelimit-reset-requests-day': '3600',
      'x-ratelimit-remaining-tokens-minute': '10',
    },
    body: { message: 'Request limit exceeded', type: 'too_many_requests_error', code: 'request_quota_exceeded' },
    code: 'THROTTLED',
    retryAfterMs: 3_600_000,
    others: 'model is walled',
  },
  {
    provider: 'GitHub Models',
    status: 429,
    headers: { 'x-ratelimit-type': 'UserByModelByDay', 'x-ratelimit-timeremaining': '42900' },
    body: {
      error: {
        code: 'RateLimitReached',
        message: 'Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 42900 seconds before retrying.',
      },
    },
    code: 'THROTTLED',
    retryAfterMs: 42_900_000,
    others: 'model is walled',
  },
  {
    provider: 'Zhipu, no money',
    status: 429,
    body: { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Zhipu',
    status: 429,
    body: { error: { code: '1302', message: '您的账户已达到速率限制' } },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'Moonshot',
    status: 429,
    body: openai('request reached organization max RPM: 3, please try again after 1 seconds', { type: 'rate_limit_reached_error' }),
    retryAfterMs: 1000,
    ...throttled,
  },
  {
    provider: 'Moonshot, no money',
    status: 429,
    body: openai('You exceeded your current token quota', { type: 'exceeded_current_quota_error' }),
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'MiniMax, in a body of 200',
    body: { base_resp: { status_code: 1002, status_msg: 'rate limit' } },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'MiniMax, no money',
    body: { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Alibaba',
    status: 429,
    body: { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded, please try again later.' },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'Alibaba, no money',
    status: 400,
    body: { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Cloudflare',
    status: 429,
    body: { success: false, errors: [{ code: 3040, message: 'Capacity temporarily exceeded, please try again.' }] },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'Fireworks, suspended',
    status: 412,
    body: { error: { code: 'PRECONDITION_FAILED', message: 'Account is suspended, possibly due to reaching the monthly spending limit.' } },
    retryAfterMs: 300_000,
    ...walled,
  },
  {
    provider: 'Bedrock, in a stream',
    body: { type: 'throttlingException', message: 'Too many tokens, please wait before trying again.' },
    retryAfterMs: 30_000,
    ...throttled,
  },
  {
    provider: 'a gateway of drafts of the IETF',
    status: 429,
    headers: { ratelimit: '"minute";r=0;t=55, "day";r=900;t=3000' },
    body: '',
    retryAfterMs: 55_000,
    ...throttled,
  },
  {
    provider: 'a gateway of earlier drafts',
    status: 429,
    headers: { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '0', 'ratelimit-reset': '50' },
    body: 'Too many requests',
    retryAfterMs: 50_000,
    ...throttled,
  },
  {
    provider: 'a gateway with a date',
    status: 429,
    headers: { 'retry-after': 'Fri, 01 May 2026 00:00:40 GMT' },
    body: '<html>429</html>',
    retryAfterMs: 40_000,
    ...throttled,
  },
  {
    provider: 'a gateway with seconds since 1970',
    status: 429,
    headers: { 'x-rate-limit-reset': `${NOW / 1000 + 12}` },
    body: { detail: 'Rate limited' },
    retryAfterMs: 12_000,
    ...throttled,
  },
  {
    provider: 'a gateway with a field',
    status: 429,
    body: { error: { message: 'Slow down', retry_after: 9 } },
    retryAfterMs: 9000,
    ...throttled,
  },
  {
    provider: 'a gateway with a field of milliseconds',
    status: 429,
    body: { error: { message: 'Slow down', retry_after_ms: 2500 } },
    retryAfterMs: 2500,
    ...throttled,
  },
  { provider: 'plain text in a stream', body: 'Rate limit exceeded, try again in 20s', retryAfterMs: 20_000, ...throttled },
  {
    provider: 'a list of a validator',
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
    ...wrong,
  },
  { provider: 'a proxy', status: 502, body: '<html><h1>502 Bad Gateway</h1></html>', ...away },
];
