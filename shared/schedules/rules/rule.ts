import cronstrue from 'cronstrue';
import { parseCron } from './cron.ts';
import { formatDuration, spellDuration } from './duration.ts';
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

/** Steps that divide their field evenly. Others restart with each hour or day, so "every 45 minutes" would be wrong. */
const EVEN_STEPS: readonly RegExp[] = [
  /^\*(\/(2|3|4|5|6|10|12|15|20|30))?$/,
  /^\*(\/(2|3|4|5|6|10|12|15|20|30))?$/,
  /^\*(\/(2|3|4|6|8|12))?$/,
];

function describeCron(cron: string, seed: string | undefined): string {
  if (seed === undefined && hasHash(cron)) return `By the cron expression ${cron}, where H is a value of the schedule's own`;
  const { fields } = parseCron(cron, seed ?? '', 0);
  const names = fields
    .stringify(true)
    .split(' ')
    .map((name) => (name === '?' ? '*' : name));
  const values = [fields.second, fields.minute, fields.hour].map((field) => field.values.join(','));
  const spelled = names.map((name, index) => {
    const isUneven = name.includes('/') && EVEN_STEPS[index]?.test(name) === false;
    return isUneven ? (values[index] ?? name) : name;
  });
  const sentence = cronstrue.toString(spelled.join(' '), { use24HourTimeFormat: true });
  return /^\d\S* \* \* \*$/.test(spelled.slice(2).join(' ')) ? `${sentence}, every day` : sentence;
}

/** Names of days and months contain the letter too. */
function hasHash(cron: string): boolean {
  return cron.split(' ').some((field) => /(^|,)H/.test(field));
}
