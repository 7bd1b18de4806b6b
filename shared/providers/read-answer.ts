/** What an answer says of one limit. */
export interface StatedLimit {
  limit?: number | undefined;
  remaining?: number | undefined;
  /** Until it is all there again. */
  resetMs?: number | undefined;
}

/** A refusal that further calls should avoid. */
export interface Refusal {
  kind: 'cooldown' | 'wall';
  /** What the error names: other models of the account, or other accounts of the endpoint, go on. */
  scope: 'model' | 'account' | 'endpoint';
  /** How long, when the answer says so. */
  ms?: number | undefined;
  /** The provider's code, or the status. */
  reason: string;
}

/** The answer of a provider as far as it is known; no status without an answer. */
export interface ProviderAnswer {
  status?: number | undefined;
  /** By names in lower case. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The error in the body. */
  error?: { code?: string | undefined; type?: string | undefined; message?: string | undefined } | undefined;
}

/** A reset that is further away is of another window than a minute's. */
const MINUTE_MS = 61_000;

/** The limits of a minute in the headers of OpenAI's and Anthropic's form; nothing for those of a day. */
export function readLimits({ headers = {} }: ProviderAnswer, nowMs: number): { requests?: StatedLimit; tokens?: StatedLimit } {
  const read = (kind: 'requests' | 'tokens'): StatedLimit | undefined => {
    const value = (name: 'limit' | 'remaining' | 'reset'): string | undefined =>
      headers[`x-ratelimit-${name}-${kind}`] ?? headers[`anthropic-ratelimit-${kind}-${name}`];
    const stated = { limit: readCount(value('limit')), remaining: readCount(value('remaining')), resetMs: readTime(value('reset'), nowMs) };
    const isOfMinute = stated.limit !== undefined && stated.limit > 0 && (stated.resetMs ?? 0) <= MINUTE_MS;
    return isOfMinute ? stated : undefined;
  };
  const [requests, tokens] = [read('requests'), read('tokens')];
  return { ...(requests && { requests }), ...(tokens && { tokens }) };
}

const QUOTA_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active', 'quota_exceeded']);
const QUOTA_STATUS = 402;
const TOO_MANY = 429;
const UNAVAILABLE = 503;
/** Anthropic's. */
const OVERLOADED = 529;
/** How OpenAI refuses one request that no minute has room for, by 429 too; others go on. */
const TOO_LARGE = /\brequest too large\b/i;
/** How providers name a limit of a day in words. */
const OF_A_DAY = /\b(?:per day|daily|RPD|TPD)\b|PerDay/i;

/** What follows from an answer for other calls; null when they may go on. */
export function readRefusal(answer: ProviderAnswer, nowMs: number): Refusal | null {
  const { status, error = {} } = answer;
  const reason = error.code ?? error.type ?? `status ${status}`;
  const ms = readDelay(answer, nowMs);
  if (isOutOfQuota(answer)) return { kind: 'wall', scope: 'account', ms, reason };
  if (status === TOO_MANY) return isTooLarge(answer) ? null : { kind: kindOf(answer), scope: 'model', ms, reason };
  // Without a time, an endpoint that fails is the circuit's concern.
  const isOverloaded = status === OVERLOADED || (status === UNAVAILABLE && ms !== undefined);
  return isOverloaded ? { kind: 'cooldown', scope: 'endpoint', ms, reason } : null;
}

function isOutOfQuota({ status, error }: ProviderAnswer): boolean {
  return status === QUOTA_STATUS || [error?.code, error?.type].some((name) => QUOTA_CODES.has(name ?? ''));
}

function isTooLarge({ error }: ProviderAnswer): boolean {
  return TOO_LARGE.test(error?.message ?? '');
}

function kindOf({ error }: ProviderAnswer): Refusal['kind'] {
  return [error?.code, error?.type, error?.message].some((text) => OF_A_DAY.test(text ?? '')) ? 'wall' : 'cooldown';
}

/** How long the provider wants no calls: as it says, or until the limit that is used up is there again. */
function readDelay({ headers = {} }: ProviderAnswer, nowMs: number): number | undefined {
  const exact = readCount(headers['retry-after-ms']);
  const asked = exact ?? readTime(headers['retry-after'], nowMs);
  if (asked !== undefined) return Math.max(1, asked);
  const resets = (['requests', 'tokens'] as const).flatMap((kind) => {
    const isUsedUp = readCount(headers[`x-ratelimit-remaining-${kind}`]) === 0;
    return isUsedUp ? (readTime(headers[`x-ratelimit-reset-${kind}`], nowMs) ?? []) : [];
  });
  return resets.length > 0 ? Math.max(1, ...resets) : undefined;
}

function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A count of seconds that is larger is a time since 1970. */
const MAX_SECONDS = 1_000_000_000;

/** Milliseconds until a reset: `6m0s`, seconds, seconds since 1970, or a date. */
function readTime(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const seconds = Number(text);
    return seconds < MAX_SECONDS ? seconds * 1000 : Math.max(0, seconds * 1000 - nowMs);
  }
  if (/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
    return parts.reduce((total, [, count, unit = '']) => total + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
