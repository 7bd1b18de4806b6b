import cronstrue from 'cronstrue';
import { parseCron } from './cron-expression.ts';
import { spellDuration } from './format-duration.ts';
import type { Rule } from './rule.ts';
import { formatWallTime } from './wall-time.ts';

/** Steps that come out even over a whole field: others begin anew with each hour or day, and "every 45 minutes" would be wrong. */
const EVEN_STEPS: readonly RegExp[] = [
  /^\*(\/(2|3|4|5|6|10|12|15|20|30))?$/,
  /^\*(\/(2|3|4|5|6|10|12|15|20|30))?$/,
  /^\*(\/(2|3|4|6|8|12))?$/,
];

/**
 * A rule in English, with wall times of the zone, in 24 hours; the zone itself is not named. `seed` is what `H` in a cron is drawn
 * from; without one the sentence leaves its values open.
 */
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
  const { fields } = parseCron(cron, seed ?? '', 0);
  const names = fields
    .stringify(true)
    .split(' ')
    .map((name) => (name === '?' ? '*' : name));
  const values = [fields.second, fields.minute, fields.hour].map((field) => field.values.join(','));
  const spelled = names.map((name, index) => {
    const isStep = name.includes('/') && EVEN_STEPS[index]?.test(name) === false;
    return isStep ? (values[index] ?? name) : name;
  });
  const sentence = cronstrue.toString(spelled.join(' '), { use24HourTimeFormat: true });
  return /^\d\S* \* \* \*$/.test(spelled.slice(2).join(' ')) ? `${sentence}, every day` : sentence;
}

/** Names of days and months hold the letter too. */
function hasHash(cron: string): boolean {
  return cron.split(' ').some((field) => /(^|,)H/.test(field));
}
