const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Nobody asks for 30 years: a larger number is a time since 1970, in seconds or, from OpenRouter, in milliseconds. */
const MAX_SECONDS = 1_000_000_000;
const MAX_EPOCH_SECONDS = 100_000_000_000;

const NUMBER = /^\s*(\d{1,18}(?:\.\d{1,12})?)\s*$/;
const DURATION = /^(?:\d{1,12}(?:\.\d{1,12})?(?:ms|[smhd]))+$/;
const DURATION_PARTS = /(\d+(?:\.\d+)?)(ms|[smhd])/g;

/** A number of one header; undefined for anything else. Some senders put a policy behind it, as in `100, 100;window=60`. */
export function readCount(text: string | undefined): number | undefined {
  const [, digits] = /^\s*(\d{1,15})\s*(?:[,;].*)?$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Milliseconds until a time: seconds, `6m0s`, a time since 1970, or a date. The past is 0. */
export function readTime(text: string | undefined, nowMs: number): number | undefined {
  const given = text?.trim() ?? '';
  const [, number] = NUMBER.exec(given) ?? [];
  if (number !== undefined) return fromNumber(Number(number), nowMs);
  if (DURATION.test(given)) {
    return [...given.matchAll(DURATION_PARTS)].reduce((total, [, count, unit = '']) => total + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  }
  // A text without a year, such as "10 requests", is no date.
  const at = /\d{4}/.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function fromNumber(amount: number, nowMs: number): number {
  if (amount < MAX_SECONDS) return amount * 1000;
  return Math.max(0, (amount < MAX_EPOCH_SECONDS ? amount * 1000 : amount) - nowMs);
}

const AMOUNT = String.raw`(\d{1,9}(?:\.\d{1,12})?)\s*(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])`;
const AMOUNTS = new RegExp(AMOUNT, 'gi');
/** How providers say in words when to come again: "Please try again in 1m30s", "Please wait 5 seconds before retrying". */
const LATER = new RegExp(
  String.raw`\b(?:try again|retry|retrying|again|wait|resets?|available|back off)\b[\s:]*(?:again\s+)?(?:in|after|for|within|at least)?\s*(?:about\s+)?((?:${AMOUNT}[\s,]*(?:and\s+)?)+)`,
  'i',
);
/** As Azure's API Management says it: "replenished in 01:12:00". */
const CLOCK = /\b(?:in|after)\s+(\d{1,3}):(\d{2}):(\d{2})\b/;
const AT =
  /\b(?:resets?|retry|again|access)\b[^.\d]{0,20}\b(?:at|on|after)\b:?\s*(\d{4}-\d{2}-\d{2})(?:\s+at\s+|[T ])?(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?\s*(?:UTC|Z)?/i;

/** Milliseconds until the time that a message names in words; undefined when it names none. Of a long message its beginning is read. */
export function readTimeInWords(message: string, nowMs: number): number | undefined {
  const text = message.slice(0, 2000);
  const [, amounts] = LATER.exec(text) ?? [];
  if (amounts !== undefined) {
    return [...amounts.matchAll(AMOUNTS)].reduce((total, [, count, unit = '']) => total + Number(count) * unitOf(unit), 0);
  }
  const clock = CLOCK.exec(text)?.slice(1).map(Number);
  if (clock !== undefined) return clock.reduce((total, count) => total * 60 + count, 0) * 1000;
  const [, day, time = '00:00'] = AT.exec(text) ?? [];
  return day === undefined ? undefined : readTime(`${day}T${time}Z`, nowMs);
}

function unitOf(word: string): number {
  const name = word.toLowerCase();
  return UNIT_MS[/^(?:ms|msec|milli)/.test(name) ? 'ms' : name.charAt(0)] ?? 0;
}
