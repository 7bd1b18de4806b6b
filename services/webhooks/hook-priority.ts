import { z } from 'zod';
import { eventPriority, type PriorityInput, prioritySchema } from '#shared/tasks/index.ts';

const pattern = z.string().regex(/^[\w.*:/-]{1,100}$/, 'expected an event type, with * for any characters');

/** One priority for all events, or one per event type: `{ "payment*": 8, "pull_request": "low" }`. */
export const hookPrioritySchema = z.union([
  prioritySchema,
  z.record(pattern, prioritySchema).refine((rules) => Object.keys(rules).length <= 50, 'expected at most 50 rules'),
]);
export type HookPriority = z.infer<typeof hookPrioritySchema>;

/**
 * The priority of an event under a hook's rules. The rule with the most literal characters wins; without one that fits,
 * types that speak of security are `critical`, of payment 8, and all others 5.
 */
export function choosePriority(rules: HookPriority | null, eventType: string): PriorityInput {
  if (rules === null) return eventPriority(eventType);
  if (typeof rules !== 'object') return rules;
  const [best] = Object.entries(rules)
    .filter(([key]) => matchesPattern(key, eventType))
    .toSorted(([a], [b]) => literals(b) - literals(a) || (a < b ? -1 : 1));
  return best?.[1] ?? eventPriority(eventType);
}

function literals(key: string): number {
  return key.replaceAll('*', '').length;
}

/** Without `*` a pattern stands for the type and what is below it: `pull_request` for `pull_request.opened`. */
function matchesPattern(key: string, eventType: string): boolean {
  const [first = '', ...rest] = key.split('*');
  const last = rest.pop();
  if (last === undefined) return eventType === key || eventType.startsWith(`${key}.`);
  if (!eventType.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = eventType.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return eventType.length - last.length >= position && eventType.endsWith(last);
}
