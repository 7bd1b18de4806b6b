import { type Meaning, meaningOf, statusOf } from './error-meanings.ts';
import type { ProviderError } from './provider-error.ts';
import { LONGEST_LIMIT_MS } from '../limits/limit-words.ts';
import { type AnswerHeaders, type Budget, readBudgets, readWait } from './read-waits.ts';

/** What an answer says of one limit. */
export type StatedLimit = Pick<Budget, 'limit' | 'remaining' | 'resetMs'>;

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
  headers?: AnswerHeaders | undefined;
  /** The error in the body, or in the stream. */
  error?: ProviderError | undefined;
}

/** An error of which nothing is known. */
export const NO_ERROR: ProviderError = { message: '', names: [], waits: [], headers: {} };

/** A reset that is further away is of another window than a minute's. */
const MINUTE_MS = 61_000;
const DAY_MS = 86_400_000;
/** The limits of calls and tokens in a minute, less the name's prefix: OpenAI's, Groq's and Azure's, Anthropic's, Mistral's, Cerebras's. */
const OF_A_MINUTE: Readonly<Record<Budget['kind'], RegExp>> = {
  requests: /(?:^|-)(?:x-ratelimit|anthropic-ratelimit)-(?:requests|req)(?:-minute)?$/,
  tokens: /(?:^|-)(?:x-ratelimit|anthropic-ratelimit)-tokens(?:-minute)?$/,
};

/** The limits of a minute in the headers; nothing for those of a day. */
export function readLimits({ headers = {} }: ProviderAnswer, nowMs: number): { requests?: StatedLimit; tokens?: StatedLimit } {
  const budgets = readBudgets(headers, nowMs);
  const read = (kind: Budget['kind']): StatedLimit | undefined => {
    const named = budgets.filter(({ name, limit }) => OF_A_MINUTE[kind].test(name) && limit !== undefined && limit > 0);
    // A gateway passes the headers of another on below its own name.
    const { limit, remaining, resetMs } = named.toSorted((a, b) => a.name.length - b.name.length)[0] ?? {};
    return limit === undefined || (resetMs ?? 0) > MINUTE_MS ? undefined : { limit, remaining, resetMs };
  };
  const [requests, tokens] = [read('requests'), read('tokens')];
  return { ...(requests && { requests }), ...(tokens && { tokens }) };
}

/** How providers name a limit of a day or longer in words and names: `per day`, `RPD`, `PerDay`, `UserByModelByDay`, `per 86400s`. */
const OF_A_DAY =
  /\b(?:per day|per-day|daily|RPD|TPD|per 86400\s?s|per month|monthly|per week|weekly)\b|(?:per|by)_?(?:day|month|week)\b|(?:per|by)(?:day|month|week)/i;
const OF_A_DAY_HEADER = /-(?:day|month|week)$/;

interface Rule {
  scope: Refusal['scope'];
  /** By whether a limit of a day is used up, where it is absent. */
  kind?: Refusal['kind'];
  /** Whether it counts only with a time: an endpoint that fails is the circuit's concern. */
  isTimed?: true;
}

/** What each kind of refusal means for other calls; nothing for what is about one call or the endpoint's own trouble. */
const RULES: Readonly<Partial<Record<Meaning, Rule>>> = {
  quota: { scope: 'account', kind: 'wall' },
  rate: { scope: 'model' },
  overloaded: { scope: 'endpoint', kind: 'cooldown' },
  away: { scope: 'endpoint', kind: 'cooldown', isTimed: true },
};

/** What follows from an answer for other calls; null when they may go on. */
export function readRefusal({ status, headers = {}, error }: ProviderAnswer, nowMs: number): Refusal | null {
  const isRefused = error !== undefined || (status ?? 0) >= 400;
  return isRefused ? refusalIn({ status, headers, error: error ?? NO_ERROR }, nowMs) : null;
}

function refusalIn(
  { status, headers, error }: Required<ProviderAnswer> & { headers: AnswerHeaders; error: ProviderError },
  nowMs: number,
): Refusal | null {
  const rule = RULES[meaningOf(error, status)];
  const asked = readWait(headers, error, nowMs);
  if (rule === undefined || (rule.isTimed && asked === undefined)) return null;
  const reason = error.names.find((name) => !/^\d+$/.test(name)) ?? `status ${statusOf(error, status)}`;
  const kind = rule.kind ?? (isOfADay(error, headers, nowMs) ? 'wall' : 'cooldown');
  return { kind, scope: rule.scope, ms: boundedTo(kind, asked), reason };
}

/** No provider cools down for longer than a day. A wall may stand to the end of a month: a longer time is a slip, and calls find its end. */
function boundedTo(kind: Refusal['kind'], asked: number | undefined): number | undefined {
  if (asked === undefined || (kind === 'wall' && asked > LONGEST_LIMIT_MS)) return undefined;
  return Math.max(1, kind === 'wall' ? asked : Math.min(asked, DAY_MS));
}

function isOfADay(error: ProviderError, headers: AnswerHeaders, nowMs: number): boolean {
  const budgets = readBudgets({ ...error.headers, ...headers }, nowMs);
  const texts = [...error.names, error.message, headers['x-ratelimit-type'] ?? ''];
  return texts.some((text) => OF_A_DAY.test(text)) || budgets.some(({ name, remaining }) => OF_A_DAY_HEADER.test(name) && remaining === 0);
}
