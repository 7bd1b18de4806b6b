import { TASK_STATUSES } from '#shared/tasks/transitions.ts';
import type { TaskFacets } from '#shared/client/openapi.gen.ts';
import type { Choice, FilterField } from '../../parts/filters/filter-bar.tsx';
import type { FilterValues } from '../../routing/filter-query.ts';

/** The filters of `GET /v1/tasks`, by their names. */
export const TASK_FILTERS = {
  q: 'text',
  status: 'list',
  agent: 'text',
  source: 'text',
  code: 'text',
  session: 'text',
  schedule: 'text',
  correlation: 'text',
  parent: 'text',
  sourceId: 'text',
  worker: 'text',
  release: 'text',
  metadata: 'text',
  since: 'text',
  until: 'text',
  skipped: 'flag',
} as const;
export type TaskFilterValues = FilterValues<typeof TASK_FILTERS>;

const SOURCES = ['chat', 'api', 'proactive', 'webhook', 'schedule', 'delegation'] as const;

interface FieldFacts {
  facets: TaskFacets | undefined;
  agents: readonly string[];
  /** Whether the rare fields are shown, too. */
  showsAll: boolean;
  values: TaskFilterValues;
}

/** The fields of the bar; rare ones only when a person asks for them, or uses them. */
export function taskFields({ facets, agents, showsAll, values }: FieldFacts): FilterField[] {
  const rare = RARE.filter(({ name }) => showsAll || Boolean(values[name]));
  return [
    { name: 'q', kind: 'search', label: 'Search text, id or error' },
    { name: 'status', kind: 'picks', label: 'Status', choices: withCounts(TASK_STATUSES, facets?.status) },
    { name: 'agent', kind: 'pick', label: 'Agent', choices: withCounts(agents, facets?.agent) },
    { name: 'source', kind: 'pick', label: 'Source', choices: withCounts(SOURCES, facets?.source) },
    { name: 'code', kind: 'pick', label: 'Error', choices: withCounts([], facets?.code) },
    { name: 'since', kind: 'time', label: 'Since' },
    ...rare,
  ];
}

const RARE = [
  { name: 'until', kind: 'time', label: 'Until' },
  { name: 'session', kind: 'text', label: 'Session' },
  { name: 'schedule', kind: 'text', label: 'Schedule' },
  { name: 'sourceId', kind: 'text', label: 'Hook or trigger' },
  { name: 'correlation', kind: 'text', label: 'Correlation id' },
  { name: 'parent', kind: 'text', label: 'Parent task' },
  { name: 'worker', kind: 'text', label: 'Worker' },
  { name: 'release', kind: 'text', label: 'Release' },
  { name: 'metadata', kind: 'text', label: 'Metadata key:value' },
  { name: 'skipped', kind: 'flag', label: 'Skipped too' },
] as const;

/** The known values and those of tasks, with how many tasks have each. */
function withCounts(known: readonly string[], counted: TaskFacets['status'] | undefined): Choice[] {
  const counts = new Map(counted?.map(({ value, count }) => [value, count]));
  return [...new Set([...known, ...counts.keys()])].map((value) => {
    const label = value.replaceAll('_', ' ');
    const count = counts.get(value);
    return count === undefined ? { value, label } : { value, label, count };
  });
}

/** The same filter in the body of an action on many tasks. */
export function actionFilter(values: TaskFilterValues): Record<string, unknown> {
  const set = Object.entries(values).filter(([name, value]) => name !== 'skipped' && value !== null && value !== false);
  return Object.fromEntries(set.filter(([, value]) => !Array.isArray(value) || value.length > 0));
}
