import { findTime, type ReadingPlace } from './reset-times.ts';

/** What a program says of a limit that it met. */
export interface NamedLimit {
  /** When calls may go again, ms since the epoch; null when it does not say, or when that is past. */
  readonly untilMs: number | null;
}

/**
 * How programs and their providers say in words that an account has nothing left. Claude Code: "5-hour limit reached", "You've hit your
 * limit", "Claude AI usage limit reached|1764000000"; Codex: "You've hit your usage limit", `usage_limit_reached`; Gemini CLI: "You have
 * exhausted your daily quota", "RESOURCE_EXHAUSTED"; Copilot: "you've exceeded your weekly rate limit"; Qwen: "Free allocated quota exceeded".
 */
const CERTAIN: readonly RegExp[] = [
  /\brate[- _](?:limit(?:s|ed|ing|_error|_exceeded)?\b|limit_)|\brate ?limited\b|\bRateLimitError\b|\busage_limit_reached\b/i,
  /\bRESOURCE_EXHAUSTED\b|\bresource has been exhausted\b|\btoo many requests\b|\binsufficient[_ ](?:quota|balance|credits?|funds)\b/i,
  /\bout of (?:\w+ )?(?:usage|credits?|quota)\b|\bcredit balance is too low\b/i,
  /\b(?:status|error|code|http)\b\D{0,12}\b429\b|^\W*429\b/i,
];
const LIKELY: readonly RegExp[] = [
  /\blimits? (?:has been |was |is |have been )?(?:reached|hit|exceeded|exhausted)\b/i,
  /\b(?:hit|reached|exceeded|exhausted|used up|used all of|over)\b[^.\n]{0,60}\b(?:limits?|quota|capacity|allowance|credits?|usage)\b/i,
  /\bquota\b[^.\n]{0,40}\b(?:exceeded|reached|exhausted)\b/i,
];
/** Where a time follows, these say enough. */
const RESETS = /\bresets?\b|\btry again at\b/i;

/** Warnings of a limit that is not reached yet: "Approaching usage limit · resets at 3pm", "You've used 90% of your weekly limit". */
const NOT_YET =
  /\b(?:approach(?:es|ing)|close to|near(?:s|ing)?|almost at)\b[^.\n]{0,40}\b(?:limits?|quota)\b|(?<![\d.])\d{1,2}(?:\.\d+)?% (?:of|used)\b/i;

/** Bounds of one request or run, which no time lifts. */
const OTHER_LIMITS =
  /\b(?:context|prompt|input|output|length|size|file|turns?|steps?|recursion|depth|stack|memory|time|retry|retries|iterations?|budget)(?: \w+)? (?:limit|window|maximum)|\b(?:max(?:imum)?)\b[^.\n]{0,20}\b(?:turns|steps|tokens|length|iterations)\b/i;

/** What a text names a time for: its rest is read for one. */
const KEYS =
  /\b(?:again|resets?|retry(?:ing|-after| after)?|retrydelay|wait(?:ing)?|available|resumes?|renews?|refresh(?:es)?|lifted|expires?|back|until|unlocks?|reopens?)\b/gi;
const TAIL = 120;

const EPOCH =
  /\|\s*(\d{10}(?:\d{3})?)\b|\b(?:resets?_?at|reset_?time|retry_?at|until|resets?|at|after)\b["']?\s*[:=]?\s*["']?(\d{10}(?:\d{3})?)\b/i;
const SECONDS =
  /\b(?:resets?_in_seconds|resets?_after_seconds|retry[-_ ]?after(?:_seconds)?)\b["']?\s*[:=]?\s*["']?(\d+(?:\.\d+)?)(?![\d.]|\s*(?:[smhd]|ms)\b)/i;
const MILLISECONDS = /\bretry[-_]?after[-_]?ms\b["']?\s*[:=]\s*["']?(\d+)/i;

/** Longer than a month's cycle no limit lasts: what says so is a slip. */
export const LONGEST_LIMIT_MS = 62 * 24 * 3_600_000;

/** What a text says of a limit; null for a text about anything else. */
export function readLimit(text: string, place: ReadingPlace): NamedLimit | null {
  const shown = normalize(text);
  if (NOT_YET.test(shown) && !CERTAIN.some((form) => form.test(shown))) return null;
  const untilMs = findReset(shown, place);
  const isNamed = CERTAIN.some((form) => form.test(shown)) || (LIKELY.some((form) => form.test(shown)) && !OTHER_LIMITS.test(shown));
  return isNamed || (untilMs !== null && RESETS.test(shown)) ? { untilMs } : null;
}

/** When what a text speaks of is over, ms since the epoch; null when it names no time, a past one, or one that is too far. */
export function findReset(text: string, place: ReadingPlace): number | null {
  const shown = normalize(text);
  return plausible(readNumbers(shown, place) ?? readTails(shown, place) ?? findTime(shown, place), place);
}

/**
 * A time that a program gives as a value: seconds or milliseconds since the epoch, seconds from now, ISO 8601, or words. Null for none, a past
 * one, or one that is too far.
 */
export function readUntil(value: unknown, place: ReadingPlace): number | null {
  if (typeof value === 'number') return plausible(fromNumber(value, place), place);
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? readUntil(number, place) : findReset(value, place);
}

function plausible(at: number | null, { nowMs }: ReadingPlace): number | null {
  return at !== null && at > nowMs && at - nowMs <= LONGEST_LIMIT_MS ? at : null;
}

function fromNumber(value: number, { nowMs }: ReadingPlace): number {
  if (value > 1e11) return value;
  return value > 1e9 ? value * 1000 : nowMs + value * 1000;
}

function readNumbers(text: string, place: ReadingPlace): number | null {
  const [, bar, named] = EPOCH.exec(text) ?? [];
  const epoch = bar ?? named;
  if (epoch !== undefined) return fromNumber(Number(epoch), place);
  const [, ms] = MILLISECONDS.exec(text) ?? [];
  if (ms !== undefined) return place.nowMs + Number(ms);
  const [, seconds] = SECONDS.exec(text) ?? [];
  return seconds === undefined ? null : place.nowMs + Number(seconds) * 1000;
}

function readTails(text: string, place: ReadingPlace): number | null {
  for (const { index, 0: key } of text.matchAll(KEYS)) {
    const at = findTime(text.slice(index + key.length, index + key.length + TAIL), place);
    if (at !== null) return at;
  }
  return null;
}

/** Narrow and unbreakable spaces are spaces, as `toLocaleTimeString` writes them. */
function normalize(text: string): string {
  return text.replaceAll(/[\s\u00a0\u202f\u2009]+/g, ' ');
}
