import type { operations } from '#shared/client/openapi.gen.ts';

export type UsageGroup = NonNullable<NonNullable<operations['getUsage']['parameters']['query']>['groupBy']>;

export const USAGE_GROUPS = [
  'agent',
  'model',
  'source',
  'task',
  'session',
  'person',
  'key',
  'schedule',
  'tenant',
  'day',
] as const satisfies readonly UsageGroup[];

/** Whole days in UTC, both included; null for the API's default. */
export interface Period {
  since: string | null;
  until: string | null;
}

const DAY_MS = 86_400_000;
const TO_DAYS = 10;
/** Filters of the page of tasks. */
const FILTERS: ReadonlySet<string> = new Set(['agent', 'source', 'session', 'schedule']);

/** Where a row leads, with the chosen days; null for nowhere. */
export function pathOf(group: string, name: string, { since, until }: Period): string | null {
  if (group === 'day') return `/usage?${new URLSearchParams({ since: name, until: name }).toString()}`;
  if (group === 'task') return `/tasks/${encodeURIComponent(name)}`;
  if (!FILTERS.has(group)) return null;
  // The last day ends where the next one begins.
  const end = until === null ? null : new Date(Date.parse(until) + DAY_MS).toISOString().slice(0, TO_DAYS);
  const days = { ...(since === null ? {} : { since: `${since}T00:00:00Z` }), ...(end === null ? {} : { until: `${end}T00:00:00Z` }) };
  return `/tasks?${new URLSearchParams({ [group]: name, ...days }).toString()}`;
}
