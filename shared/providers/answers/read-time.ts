import { findTime } from '../limits/reset-times.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Nobody asks for 30 years: a larger number is a time since 1970, in seconds or, from OpenRouter, in milliseconds. */
const MAX_SECONDS = 1_000_000_000;
const MAX_EPOCH_SECONDS = 100_000_000_000;
/** A time since 1970 that lies so far back is none, but a number that somebody made too large. */
const PASSED_MS = 365 * 86_400_000;

/** Of a header that came twice, which are joined, the first. */
const NUMBER = /^(\d{1,30}(?:\.\d{1,12})?)(?:\s*[,;].*)?$/;
const AMOUNT = String.raw`(\d{1,12}(?:\.\d{1,12})?|an?(?=\s))\s*(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])`;
const AMOUNTS = new RegExp(AMOUNT, 'gi');
const DURATION = String.raw`(?:${AMOUNT}[\s,]*(?:and\s+)?)+`;
const IS_DURATION = new RegExp(`^${DURATION}$`, 'i');
/** A date with a time that names no zone; providers mean UTC. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/** A number of one header; undefined for anything else. Some senders put a policy behind it, as in `100, 100;window=60`. */
export function readCount(text: string | undefined): number | undefined {
  const [, digits] = /^\s*(\d{1,15})\s*(?:[,;].*)?$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Milliseconds until a time: seconds, `6m0s`, `30 seconds`, a time since 1970, or a date. The past is 0. */
export function readTime(text: string | undefined, nowMs: number): number | undefined {
  const given = text?.trim() ?? '';
  const [, number] = NUMBER.exec(given) ?? [];
  if (number !== undefined) return fromNumber(Number(number), nowMs);
  if (IS_DURATION.test(given)) return durationOf(given);
  // A text without a year, such as "10 requests", is no date.
  const at = /\d{4}|\bGMT$/.test(given) ? Date.parse(WITHOUT_ZONE.test(given) ? `${given}Z` : given) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function fromNumber(amount: number, nowMs: number): number {
  if (amount < MAX_SECONDS) return amount * 1000;
  const at = amount < MAX_EPOCH_SECONDS ? amount * 1000 : amount;
  return at < nowMs - PASSED_MS ? amount * 1000 : Math.max(0, at - nowMs);
}

function durationOf(text: string): number {
  return [...text.matchAll(AMOUNTS)].reduce(
    (total, [, count = '', unit = '']) => total + (Number(count) || Number(/^a/i.test(count))) * unitOf(unit),
    0,
  );
}

function unitOf(word: string): number {
  const name = word.toLowerCase();
  return UNIT_MS[/^(?:ms|msec|milli)/.test(name) ? 'ms' : name.charAt(0)] ?? 0;
}

/** How providers say in words when to come again: "Please try again in 1m30s", "Please wait 5 seconds", "Retry your request after: 20s". */
const LATER = new RegExp(
  String.raw`\b(?:try again|retry|retrying|again|wait|resets?|available|back off)\b[\s:]*(?:(?:again|your|the|this|requests?|it)\s+){0,3}(?:in|after|for|within|at least)?[\s:]*(?:about\s+)?(${DURATION})`,
  'i',
);
/** Numbers without a unit are seconds, or since 1970: "Retry-After: 12", "reset_at: 1777593630". */
const BARE = /\b(?:retry[-_ ]after|resets?[-_ ]at)\b["'\s:=]*(\d{1,13}(?:\.\d{1,12})?)(?![\w:-]|\.\d|\s*[ap]\.?m)/i;
/** As Azure's API Management says it: "replenished in 01:12:00". */
const CLOCK = /\b(?:in|after)\s+(\d{1,3}):(\d{2}):(\d{2})\b/;
/** A date or a time of day: "You will regain access on 2026-05-01 at 09:00 UTC", "resets at midnight UTC". */
const AT = /\b(?:resets?|retry|again|access|wait|available)\b[^.\d]{0,20}?\b(?:at|on|after|until)\b:?\s*([^.\n]{1,60})/i;

/** Milliseconds until the time that a message names in words; undefined when it names none. Of a long message its beginning is read. */
export function readTimeInWords(message: string, nowMs: number): number | undefined {
  const text = message.slice(0, 2000);
  const [, duration] = LATER.exec(text) ?? [];
  if (duration !== undefined) return durationOf(duration);
  const [, bare] = BARE.exec(text) ?? [];
  if (bare !== undefined) return readTime(bare, nowMs);
  const clock = CLOCK.exec(text)?.slice(1).map(Number);
  if (clock !== undefined) return clock.reduce((total, count) => total * 60 + count, 0) * 1000;
  const [, rest] = AT.exec(text) ?? [];
  const at = rest === undefined ? null : findTime(rest, { nowMs, zone: 'UTC' });
  return at === null ? undefined : at - nowMs;
}
