import type { TenantLimitsPatch } from '#shared/client/openapi.gen.ts';

/** A limit by its path in the API's record, `rates.user.perHour`. */
export interface LimitField {
  path: string;
  label: string;
  /** Null is no limit. */
  value: number | null;
  standard: number | null;
  /** Whether it may be taken away. */
  isOptional: boolean;
}

/** New figures by path; an empty text takes the limit away. */
export type LimitEdits = Readonly<Record<string, number | string>>;

/** Limits as the API has them. */
export type LimitsRecord = Readonly<Record<string, unknown>>;

const CLASSES = ['user', 'webhook', 'proactive'] as const;
const CLASS_TEXTS: Readonly<Record<string, string>> = {
  user: 'from people',
  webhook: 'from webhooks',
  proactive: 'from schedules and agents',
  all: 'from all',
};
const RATE_TEXTS = { perMinute: 'a minute', perHour: 'an hour', burst: 'at once' } as const;

const BY_CLASS: [string, string][] = CLASSES.map((each) => [`runningByClass.${each}`, `Running, ${CLASS_TEXTS[each]}`]);
const RATES: [string, string][] = [...CLASSES, 'all'].flatMap((each) =>
  Object.entries(RATE_TEXTS).map(([figure, text]): [string, string] => [
    `rates.${each}.${figure}`,
    `Accepted ${text}, ${CLASS_TEXTS[each]}`,
  ]),
);
const OF_TENANTS: readonly [path: string, label: string][] = [
  ['running', 'Running'],
  ['waiting', 'Waiting'],
  ...BY_CLASS,
  ['runningLow', 'Running, of low priority'],
  ['weight', 'Share of the slots'],
  ['maxTimeoutMs', 'Longest attempt, ms'],
  ['storedBytes', 'Stored bytes'],
  ...RATES,
];
const OF_FLEET: readonly [path: string, label: string][] = [
  ['maxConcurrent', 'Running'],
  ...BY_CLASS,
  ['runningLow', 'Running, of low priority'],
  ...RATES,
];
const REQUIRED: ReadonlySet<string> = new Set(['weight', 'maxConcurrent']);

export function tenantLimitFields(limits: LimitsRecord | null, standard: LimitsRecord | null): LimitField[] {
  const agents = Object.keys({ ...recordAt(standard, 'runningByAgent'), ...recordAt(limits, 'runningByAgent') });
  const byAgent = agents.map((agent): [string, string] => [`runningByAgent.${agent}`, `Running of the agent ${agent}`]);
  return fieldsOf([...OF_TENANTS, ...byAgent], limits, standard);
}

export function fleetLimitFields(limits: LimitsRecord, standard: LimitsRecord): LimitField[] {
  return fieldsOf(OF_FLEET, limits, standard);
}

function fieldsOf(
  list: readonly [path: string, label: string][],
  limits: LimitsRecord | null,
  standard: LimitsRecord | null,
): LimitField[] {
  return list.map(([path, label]) => ({
    path,
    label,
    value: figureAt(limits, path),
    standard: figureAt(standard, path),
    isOptional: !REQUIRED.has(path),
  }));
}

function figureAt(limits: unknown, path: string): number | null {
  const figure = partsOf(path).reduce<unknown>((value, name) => (isRecord(value) ? value[name] : null), limits);
  return typeof figure === 'number' ? figure : null;
}

/** The name of an agent may hold dots. */
function partsOf(path: string): string[] {
  const [first = '', ...rest] = path.split('.');
  return first === 'runningByAgent' ? [first, rest.join('.')] : [first, ...rest];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function recordAt(value: LimitsRecord | null, name: string): Record<string, unknown> {
  const found = value?.[name];
  return isRecord(found) ? found : {};
}

/** The change that the API takes. A rate is sent with all its figures; without any it is taken away. */
export function limitPatch(edits: LimitEdits, fields: readonly LimitField[]): TenantLimitsPatch {
  const patch: Record<string, unknown> = {};
  const valueOf = ({ path, value }: LimitField): number | null => {
    const edit = edits[path];
    if (edit === undefined) return value;
    return edit === '' ? null : Number(edit);
  };
  for (const field of fields) {
    if (edits[field.path] === undefined) continue;
    const [section = '', name, figure] = partsOf(field.path);
    if (name === undefined) patch[section] = valueOf(field);
    else if (figure === undefined) patch[section] = { ...recordAt(patch, section), [name]: valueOf(field) };
    else patch[section] = { ...recordAt(patch, section), [name]: rateOf(`${section}.${name}.`, fields, valueOf) };
  }
  return patch;
}

function rateOf(
  path: string,
  fields: readonly LimitField[],
  valueOf: (field: LimitField) => number | null,
): Readonly<Record<string, number>> | null {
  const given = fields
    .filter((field) => field.path.startsWith(path))
    .map((field) => [field.path.slice(path.length), valueOf(field)] as const);
  const figures = given.filter((pair): pair is readonly [string, number] => pair[1] !== null);
  return figures.length === 0 ? null : Object.fromEntries(figures);
}
