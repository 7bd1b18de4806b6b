import type { ProviderError } from './provider-error.ts';

const MEANINGS = ['quota', 'rate', 'overloaded', 'invalid', 'unauthorized', 'forbidden', 'missing', 'away', 'broken'] as const;
/** What a refusal is about: `quota` is no money or no calls left in the account, `rate` too many calls or tokens for now. */
export type Meaning = (typeof MEANINGS)[number];

/** The status that stands for each. */
const STATUS_OF: Readonly<Record<Meaning, number>> = {
  invalid: 400,
  unauthorized: 401,
  quota: 402,
  forbidden: 403,
  missing: 404,
  rate: 429,
  broken: 500,
  away: 503,
  overloaded: 529,
};

/**
 * How providers name their errors. Those of `quota`, `rate` and `overloaded` count whatever the status is: some send them with 400, 403 or 412.
 * OpenAI and Azure, Anthropic, Google, xAI, OpenRouter, Groq, Mistral, DeepSeek, Together, LiteLLM, Moonshot, Zhipu, MiniMax, Alibaba,
 * Volcengine, Fireworks, Bedrock, Cloudflare, GitHub.
 */
const NAMES: Readonly<Record<Meaning, readonly string[]>> = {
  quota: [
    'insufficient_quota',
    'billing_hard_limit_reached',
    'billing_not_active',
    'billing_error',
    'quota_exceeded',
    'exceeded_current_quota_error',
    'budget_exceeded',
    'insufficient_balance',
    'insufficient_credits',
    'insufficient_funds',
    'insufficient_user_quota',
    'credit_limit',
    'credits_exhausted',
    'payment_required',
    'arrearage',
    'accountoverdueerror',
    'account_overdue',
    'access_terminated_error',
    '1113',
    '1008',
  ],
  rate: [
    'rate_limit_exceeded',
    'rate_limit_error',
    'rate_limit_reached_error',
    'rate_limit_reached',
    'rate_limited',
    'rate_limit',
    'ratelimitexceeded',
    'ratelimitreached',
    'ratelimiterror',
    'too_many_requests',
    'toomanyrequests',
    'requests_limit_exceeded',
    'requestlimitexceeded',
    'tokens_limit_exceeded',
    'tokens',
    'resource_exhausted',
    'throttling',
    'throttlingexception',
    'throttling.ratequota',
    'throttling.burstrate',
    'throttling.allocationquota',
    'limitburstrate',
    'limit_requests',
    'throttled',
    'throttling_error',
    'userbymodelbyday',
    'userbymodelbyminute',
    '1300',
    '1302',
    '1303',
    '1305',
    '1002',
  ],
  overloaded: [
    'overloaded_error',
    'overloaded',
    'engine_overloaded',
    'engine_overloaded_error',
    'server_overloaded',
    'serveroverloaded',
    'model_overloaded',
    'service_tier_capacity_exceeded',
    'capacity_exceeded',
    'insufficient_system_resource',
    'modelnotreadyexception',
    '3505',
  ],
  invalid: [
    'invalid_request_error',
    'invalid_argument',
    'context_length_exceeded',
    'context_window_exceeded',
    'string_above_max_length',
    'contextwindowexceedederror',
    'badrequesterror',
    'bad_request',
    'unsupported_parameter',
    'unsupported_value',
    'content_filter',
    'content_policy_violation',
    'contentpolicyviolationerror',
    'datainspectionfailed',
    'validationexception',
    'invalidparameter',
    'extra_forbidden',
  ],
  unauthorized: [
    'authentication_error',
    'invalid_api_key',
    'invalid_authentication_error',
    'unauthorized',
    'unauthenticated',
    'authenticationerror',
  ],
  forbidden: ['permission_error', 'permission_denied', 'permission_denied_error', 'accessdeniedexception', 'forbidden', 'permissiondenied'],
  missing: ['not_found_error', 'model_not_found', 'not_found', 'notfounderror', 'resource_not_found_error', 'deploymentnotfound'],
  away: [
    'service_unavailable',
    'serviceunavailable',
    'serviceunavailableerror',
    'unavailable',
    'bad_gateway',
    'timeout_error',
    'deadline_exceeded',
  ],
  broken: ['server_error', 'api_error', 'internal_error', 'internal_server_error', 'internalservererror', 'internal', 'serviceerror'],
};

const MEANING_OF: ReadonlyMap<string, Meaning> = new Map(
  MEANINGS.flatMap((meaning) => NAMES[meaning].map((name) => [name, meaning] as const)),
);

/** Names of a money account and of limits go before a status; a name such as `invalid_request_error` stands behind many. */
const CERTAIN: ReadonlySet<Meaning> = new Set(['quota', 'rate', 'overloaded']);

/** Words for what some providers give no name of its own: Anthropic, DeepSeek and xAI of money, others in plain text. */
const MONEY =
  /\bcredit balance is too low|insufficient (?:account )?(?:balance|credits?|funds?|quota)|\bkey limit exceeded|(?:out of|no|used all available) credits|(?:spending|usage|billing) (?:hard )?limits?\b|requires more credits|call volume quota|budget has been exceeded|exceeded your .{0,20}budget|余额不足|欠费/i;
const RATE =
  /\brate.?limit|\btoo many requests|\bthrottl|\b(?:requests|tokens) per (?:second|min|minute|hour|day)\b|请求过于频繁|速率限制/i;
const BUSY = /\boverloaded\b|\bat capacity\b|\bcapacity exceeded\b|\bserver (?:is )?(?:too )?busy\b|\bservice is (?:too )?busy\b/i;

/** How OpenAI and Groq refuse one request that no minute has room for, also by 429: a wait does not help it. */
const TOO_LARGE = /\brequest too large\b/i;

/** What a refusal is about: by the name that its provider gives it, then by words of money, then by the status, then by words. */
export function meaningOf(error: ProviderError, status: number | undefined): Meaning {
  if (TOO_LARGE.test(error.message)) return 'invalid';
  const named = error.names.flatMap((name) => MEANING_OF.get(name) ?? []);
  const certain = named.find((meaning) => CERTAIN.has(meaning));
  if (certain !== undefined) return certain;
  if (MONEY.test(error.message)) return 'quota';
  // A status or a name that only says that something broke leaves it to the other, and to words.
  const stated = [byStatus(status), byStatus(error.status), named[0]].filter((meaning) => meaning !== undefined);
  return stated.find((meaning) => meaning !== 'broken') ?? byWords(error.message);
}

function byWords(message: string): Meaning {
  if (RATE.test(message)) return 'rate';
  return BUSY.test(message) ? 'overloaded' : 'broken';
}

function byStatus(status: number | undefined): Meaning | undefined {
  if (status === undefined || status < 400) return undefined;
  const exact = MEANINGS.find((meaning) => STATUS_OF[meaning] === status);
  if (exact !== undefined) return exact;
  if (status === 502 || status === 504) return 'away';
  return status >= 500 ? 'broken' : 'invalid';
}

/** The status that an answer has, or that stands for what its error says. */
export function statusOf(error: ProviderError, status: number | undefined): number {
  const meaning = meaningOf(error, status);
  const given = [status, error.status].find((each) => each !== undefined && each >= 400 && byStatus(each) === meaning);
  return given ?? STATUS_OF[meaning];
}
