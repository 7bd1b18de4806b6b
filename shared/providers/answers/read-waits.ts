import { readCount, readTime, readTimeInWords } from './read-time.ts';
import type { ProviderError } from './provider-error.ts';

/** Headers by names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** What headers say of one limit. */
export interface Budget {
  /** The name of its headers without the part that tells them apart. */
  name: string;
  kind: 'requests' | 'tokens';
  limit?: number | undefined;
  remaining?: number | undefined;
  /** Until it is all there again. */
  resetMs?: number | undefined;
}

/** Of an answer; others are left unread. */
const MAX_HEADERS = 200;
const ROLES: Readonly<Record<string, 'limit' | 'remaining' | 'reset'>> = {
  limit: 'limit',
  remaining: 'remaining',
  reset: 'reset',
  timeremaining: 'reset',
};
/** Spelled `x-ratelimit-limit-requests`, `anthropic-ratelimit-tokens-reset`, `x-tokenlimit-remaining`, `x-rate-limit-reset`, `ratelimitbysize-reset` and so on. */
const OF_A_LIMIT = /(?:^|-)(?:rate-?limit|tokenlimit)/;

/**
 * What the headers of an answer say of its provider's limits, also those that a gateway passes on below a name of its own
 * (`llm_provider-...`).
 */
export function readBudgets(headers: AnswerHeaders, nowMs: number): Budget[] {
  const budgets = new Map<string, Budget>();
  for (const [header, value] of Object.entries(headers).slice(0, MAX_HEADERS)) {
    if (!OF_A_LIMIT.test(header)) continue;
    if (header === 'ratelimit') for (const budget of readCombined(value, nowMs)) budgets.set(budget.name, budget);
    else addHeader(budgets, { header, value }, nowMs);
  }
  return [...budgets.values()];
}

function addHeader(budgets: Map<string, Budget>, { header, value }: { header: string; value: string }, nowMs: number): void {
  const parts = header.replace('rate-limit', 'ratelimit').split(/[-_]/);
  const at = parts.findIndex((part) => Object.hasOwn(ROLES, part));
  const role = ROLES[parts[at] ?? ''];
  if (role === undefined) return;
  const name = parts.toSpliced(at, 1).join('-');
  const budget = budgets.get(name) ?? { name, kind: /token|bysize/.test(name) ? 'tokens' : 'requests' };
  budgets.set(name, budget);
  if (role === 'reset') budget.resetMs = /[-_]ms$/.test(header) ? readMs(value) : readTime(value, nowMs);
  else budget[role] = readCount(value);
}

/** The header of the IETF's drafts: `limit=100, remaining=0, reset=50`, or `"default";r=0;t=55`. */
function readCombined(value: string, nowMs: number): Budget[] {
  const isListed = /;\s*r\s*=/.test(value);
  return (isListed ? value.split(',') : [value]).map((item, position) => {
    const read = (short: string, long: string): string | undefined =>
      new RegExp(`(?:^|[;,\\s])(?:${short}|${long})\\s*=\\s*(\\d+)`).exec(item)?.[1];
    return {
      name: `ratelimit/${position}`,
      kind: 'requests',
      limit: readCount(read('q', 'limit')),
      remaining: readCount(read('r', 'remaining')),
      resetMs: readTime(read('t', 'reset'), nowMs),
    };
  });
}

const IN_MS = ['retry-after-ms', 'x-ms-retry-after-ms', 'x-retry-after-ms'];
const IN_SECONDS = ['retry-after', 'x-retry-after', 'x-ratelimit-retry-after', 'ratelimit-retry-after'];

/**
 * Milliseconds until the provider wants further calls: as it asks, else until the limit that is used up is there again. Undefined when it
 * says nothing.
 */
export function readWait(headers: AnswerHeaders, error: ProviderError, nowMs: number): number | undefined {
  const asked = readRequestedWait(headers, error, nowMs);
  return asked || (readReset({ ...error.headers, ...headers }, nowMs) ?? asked);
}

/** How long an answer asks to wait: by its headers, else by its error's fields or words. */
export function readRequestedWait(headers: AnswerHeaders, error: ProviderError, nowMs: number): number | undefined {
  const all = { ...error.headers, ...headers };
  const asked = [
    first(IN_MS, (name) => readMs(all[name])),
    first(IN_SECONDS, (name) => readTime(all[name], nowMs)),
    first(error.waits, (text) => readField(text, nowMs)),
    readTimeInWords(error.message, nowMs),
  ].filter((ms) => ms !== undefined);
  // A refusal that asks for no wait at all may say elsewhere what it means.
  return asked.find((ms) => ms > 0) ?? asked[0];
}

/** The latest reset of what is used up; of all limits where none is said to be. */
function readReset(headers: AnswerHeaders, nowMs: number): number | undefined {
  const known = readBudgets(headers, nowMs).flatMap(({ resetMs, remaining }) => (resetMs === undefined ? [] : [{ resetMs, remaining }]));
  const spent = known.filter(({ remaining }) => remaining === 0);
  const resets = (spent.length > 0 ? spent : known).map(({ resetMs }) => resetMs);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

function readField(text: string, nowMs: number): number | undefined {
  return readTime(/^\d+(?:\.\d+)?ms$/.test(text) ? text : text.replace(/ms$/, ''), nowMs);
}

function readMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,15}(?:\.\d{1,12})?\s*$/.test(text) ? Number(text) : undefined;
}

function first(names: readonly string[], read: (name: string) => number | undefined): number | undefined {
  return names.map(read).find((value) => value !== undefined);
}
