import { BUCKETS_MS, createHistogram, type Histogram } from './histogram.ts';
import type { AgentCounts } from './local-counts.ts';
import type { Series } from './series.ts';

/** Counters by field, as Redis keeps them. Labels in a field are separated by `|`, which none of them holds. */
export type Counts = Map<string, number>;

/** The counters that the fleet keeps for good. */
export const FAMILIES = [
  'accepted',
  'shed',
  'ended',
  'attempts',
  'retried',
  'preempted',
  'sla-breached',
  'waited',
  'ran',
  'tokens',
  'cost',
  'throttled',
  'calls',
  'lost-output',
] as const;
export type Family = (typeof FAMILIES)[number];

/** Adds to the fleet's counters: by queue, band and source, and attempts by result and code. */
export function addTotals(counts: Counts, series: Series, labelOf: (code: string) => string): void {
  const labels = `${series.queue}|${series.band}|${series.source}`;
  add(counts, `accepted|${labels}`, series.accepted);
  add(counts, `shed|${labels}`, series.shed);
  add(counts, `retried|${labels}`, series.retried);
  add(counts, `preempted|${labels}`, series.preempted);
  add(counts, `sla-breached|${labels}`, series.slaBreached);
  for (const [status, count] of series.ended) add(counts, `ended|${labels}|${status}`, count);
  for (const [name, count] of series.attempts) {
    const [result = '', code = ''] = name.split('|');
    add(counts, `attempts|${result}|${code === '' ? '' : labelOf(code)}`, count);
  }
  addHistogram(counts, `waited|${labels}`, series.waited);
  addHistogram(counts, `ran|${labels}`, series.ran);
}

/** Adds what an agent used. */
export function addAgent(counts: Counts, agent: string, used: AgentCounts): void {
  add(counts, `tokens|${agent}|input`, used.inputTokens);
  add(counts, `tokens|${agent}|output`, used.outputTokens);
  add(counts, `cost|${agent}`, used.costMicroUsd);
  add(counts, `throttled|${agent}`, used.throttled);
}

/** Adds calls of models, by account, model and result. */
export function addCalls(counts: Counts, calls: ReadonlyMap<string, number>): void {
  for (const [labels, count] of calls) add(counts, `calls|${labels}`, count);
}

/** Adds entries of output streams that were lost. */
export function addLostOutputs(counts: Counts, lost: number): void {
  add(counts, 'lost-output', lost);
}

/** Adds to the counters of one minute. */
export function addMinute(counts: Counts, { accepted, shed, retried, costMicroUsd, ended, attempts, waited, ran }: Series): void {
  add(counts, 'accepted', accepted);
  add(counts, 'shed', shed);
  add(counts, 'retried', retried);
  add(counts, 'cost', costMicroUsd);
  for (const [status, count] of ended) add(counts, `ended|${status}`, count);
  for (const [name, count] of attempts) add(counts, `attempts|${name.split('|')[0] ?? ''}`, count);
  addHistogram(counts, 'waited', waited);
  addHistogram(counts, 'ran', ran);
  raise(counts, 'waited|max', waited.maxMs);
  raise(counts, 'ran|max', ran.maxMs);
}

export function addHistogram(counts: Counts, name: string, { counts: buckets, sumMs }: Histogram): void {
  for (const [bucket, count] of buckets.entries()) add(counts, `${name}|${bucket}`, count);
  add(counts, `${name}|sum`, Math.round(sumMs));
}

function add(counts: Counts, field: string, by: number): void {
  if (by > 0) counts.set(field, (counts.get(field) ?? 0) + by);
}

/** Fields that end so are the greatest value and no sum; see `add-counts.lua`. */
function raise(counts: Counts, field: `${string}|max`, to: number): void {
  const value = Math.ceil(to);
  if (value > (counts.get(field) ?? 0)) counts.set(field, value);
}

/** A counter or a histogram of the fleet, with the values of its labels. */
export interface StoredFamily {
  family: Family;
  labels: string[];
  value: number;
  histogram: Histogram;
}

const HISTOGRAMS: ReadonlySet<string> = new Set<Family>(['waited', 'ran']);

/** Reads the fleet's counters. A field of another release is left out. */
export function readFamilies(stored: Readonly<Record<string, string>>): StoredFamily[] {
  const found = new Map<string, StoredFamily>();
  for (const [field, text] of Object.entries(stored)) {
    const parts = field.split('|');
    const family = FAMILIES.find((each) => each === parts[0]);
    if (family === undefined) continue;
    const bucket = HISTOGRAMS.has(family) ? parts.pop() : undefined;
    const name = parts.join('|');
    const entry = found.get(name) ?? { family, labels: parts.slice(1), value: 0, histogram: createHistogram() };
    found.set(name, entry);
    if (bucket === undefined) entry.value = Number(text);
    else setBucket(entry.histogram, bucket, Number(text));
  }
  return [...found.values()];
}

export function setBucket(histogram: Histogram, bucket: string, value: number): void {
  if (bucket === 'sum') histogram.sumMs += value;
  else if (bucket === 'max') histogram.maxMs = Math.max(histogram.maxMs, value);
  else if (Number(bucket) <= BUCKETS_MS.length) histogram.counts[Number(bucket)] = (histogram.counts[Number(bucket)] ?? 0) + value;
}

/** Sums the counters of several minutes: plain ones by their field, and the two histograms. */
export function sumMinutes(minutes: readonly Readonly<Record<string, string>>[]): { counts: Counts; waited: Histogram; ran: Histogram } {
  const sums = { counts: new Map<string, number>(), waited: createHistogram(), ran: createHistogram() };
  for (const [field, text] of minutes.flatMap((minute) => Object.entries(minute))) {
    const [name = '', bucket = ''] = field.split('|');
    if (name === 'waited' || name === 'ran') setBucket(sums[name], bucket, Number(text));
    else add(sums.counts, field, Number(text));
  }
  return sums;
}
