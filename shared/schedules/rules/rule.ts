import { parseCron } from './cron.ts';
import { describeFields } from './cron-sentence.ts';
import { formatWallTime } from './wall-time.ts';

/**
 * When a schedule fires. Instants are milliseconds since the epoch.
 *
 * - `heartbeat`: every `everyMs` of elapsed time, counted from `anchor`; without one, from the instant that times are computed after
 * - `cron`: at the wall times of a cron expression in the schedule's zone
 * - `once`: at one instant
 */
export type Rule = { kind: 'heartbeat'; everyMs: number; anchor?: number } | { kind: 'cron'; cron: string } | { kind: 'once'; at: number };

/** What a reader makes of a text: a rule, the reason why it is refused, or undefined when the text is of another form. */
export type ReadAnswer = Rule | { wrong: string } | undefined;

/** The rule as it is written: `every 5m`, `0 9 * * 1-5` or an ISO time in UTC. `readRule` reads it as the same rule again. */
export function formatRule(rule: Rule): string {
  switch (rule.kind) {
    case 'heartbeat':
      return `every ${formatDuration(rule.everyMs)}`;
    case 'cron':
      return rule.cron;
    case 'once':
      return new Date(rule.at).toISOString();
  }
}

/** The rule in English, with wall times of the zone in 24 hours. Without a `seed`, the values of `H` in a cron stay open. */
export function describeRule(rule: Rule, tz: string, seed?: string): string {
  switch (rule.kind) {
    case 'heartbeat':
      // `Every hour`, and not `Every 1 hour`.
      return `Every ${spellDuration(rule.everyMs).replace(/^1 (\S+)$/, '$1')}`;
    case 'once':
      return `Once, on ${formatWallTime(rule.at, tz).replace(' ', ' at ')}`;
    case 'cron':
      return describeCron(rule.cron, seed);
  }
}

function describeCron(cron: string, seed: string | undefined): string {
  if (seed === undefined && hasHash(cron)) return `By the cron expression ${cron}, where H is a value of the schedule's own`;
  return describeFields(parseCron(cron, seed ?? '', 0).fields);
}

/** Names of days and months contain the letter too. */
function hasHash(cron: string): boolean {
  return cron.split(' ').some((field) => /(^|,)H/.test(field));
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const UNITS_BY_NAME: Readonly<Record<string, number>> = Object.fromEntries(
  (
    [
      [SECOND, 's sec secs second seconds'],
      [MINUTE, 'm min mins minute minutes'],
      [HOUR, 'h hr hrs hour hours'],
      [DAY, 'd day days'],
      [WEEK, 'w week weeks'],
    ] as const
  ).flatMap(([ms, names]) => names.split(' ').map((name) => [name, ms])),
);

const PART = /(\d{1,6}(?:\.\d{1,3})?) ?([a-z]+)(?: ?,? ?and | )?/gy;

/**
 * Milliseconds of `5m`, `90 minutes`, `1.5h`, `1h30m` or `1 hour and 30 minutes`, in lower case; undefined for anything else.
 * Units come largest first and once each. A day is 24 hours here, and a week is 7 of them.
 */
export function readDuration(text: string): number | undefined {
  let total = 0;
  let smallest = Infinity;
  let end = 0;
  for (const [part, amount = '', unit = ''] of text.matchAll(PART)) {
    const size = Object.hasOwn(UNITS_BY_NAME, unit) ? UNITS_BY_NAME[unit] : undefined;
    if (size === undefined || size >= smallest) return undefined;
    smallest = size;
    total += Math.round(Number(amount) * size);
    end += part.length;
  }
  // A separator at the end means that a part is missing.
  return end === text.length && end > 0 && /[a-z]$/.test(text) ? total : undefined;
}

const WRITTEN: readonly [ms: number, letter: string, word: string][] = [
  [DAY, 'd', 'day'],
  [HOUR, 'h', 'hour'],
  [MINUTE, 'm', 'minute'],
  [SECOND, 's', 'second'],
];

/** A duration of whole seconds as `readDuration` reads it, in the largest unit that divides it: `5m`, `90m`, `36h`. */
export function formatDuration(ms: number): string {
  const [size, letter] = WRITTEN.find(([unit]) => ms % unit === 0) ?? [SECOND, 's'];
  return `${ms / size}${letter}`;
}

/** A duration of full seconds as text: `5 minutes`, `1 hour 30 minutes`. */
function spellDuration(ms: number): string {
  const words: string[] = [];
  let left = ms;
  for (const [size, , word] of WRITTEN) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count} ${word}${count === 1 ? '' : 's'}`);
  }
  return words.join(' ');
}
