import type { Metric, Registry } from 'prom-client';
import { BUCKETS_MS, type Family, sizeOf, type StoredFamily } from '#shared/metrics/index.ts';

/** A value of a family, as prom-client writes it. */
interface Sample {
  labels: Record<string, string | number>;
  value: number;
  /** The family's own by default. */
  metricName?: string;
}

export interface FamilyOptions {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** Its values now; none when they cannot be read. */
  read: () => Promise<Sample[]>;
}

/** Registers a family whose values are read at each scrape. prom-client's own counters and histograms only count by themselves. */
export function addFamily(registry: Registry, { name, help, type, read }: FamilyOptions): void {
  const get = async (): Promise<object> => ({ name, help, type, aggregator: 'first', values: await read().catch(() => []) });
  // It is all that a registry uses of a metric.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  registry.registerMetric({ name, help, type, get } as unknown as Metric);
}

const MICRO_PER_USD = 1_000_000;
const MS_PER_SECOND = 1000;
const TASK_LABELS = ['queue', 'band', 'source'] as const;

interface StoredOptions {
  family: Family;
  name: string;
  help: string;
  /** In the order in which the counters have them. */
  labels: readonly string[];
  /** How many of what is counted make one of what is shown. */
  scale?: number;
}

/** The counters that every process adds to. */
const STORED_FAMILIES: readonly StoredOptions[] = [
  { family: 'accepted', name: 'muster_tasks_accepted_total', help: 'Tasks accepted', labels: TASK_LABELS },
  { family: 'shed', name: 'muster_tasks_shed_total', help: 'Tasks refused under pressure', labels: TASK_LABELS },
  { family: 'ended', name: 'muster_tasks_total', help: 'Tasks that ended, by their last status', labels: [...TASK_LABELS, 'outcome'] },
  { family: 'attempts', name: 'muster_attempts_total', help: 'Attempts that ended', labels: ['result', 'code'] },
  { family: 'retried', name: 'muster_retries_total', help: 'Failed attempts that another one follows', labels: TASK_LABELS },
  { family: 'preempted', name: 'muster_preemptions_total', help: 'Attempts cut short for a critical task', labels: TASK_LABELS },
  { family: 'sla-breached', name: 'muster_sla_breaches_total', help: 'Tasks whose sla passed before their end', labels: TASK_LABELS },
  { family: 'waited', name: 'muster_task_wait_seconds', help: 'From acceptance to the first attempt', labels: TASK_LABELS },
  { family: 'ran', name: 'muster_attempt_seconds', help: 'Time that attempts held a slot', labels: TASK_LABELS },
  { family: 'tokens', name: 'muster_tokens_total', help: 'Tokens of models', labels: ['agent', 'direction'] },
  { family: 'cost', name: 'muster_cost_usd_total', help: 'Cost of models in US dollars', labels: ['agent'], scale: MICRO_PER_USD },
  { family: 'throttled', name: 'muster_throttles_total', help: 'Attempts that a provider put off', labels: ['agent'] },
  { family: 'calls', name: 'muster_model_calls_total', help: 'Calls of models that ended', labels: ['account', 'model', 'result'] },
  { family: 'lost-output', name: 'muster_output_entries_lost_total', help: 'Entries of output streams that were lost', labels: [] },
];

/** Registers the families of what the fleet counted. */
export function addStoredFamilies(registry: Registry, read: () => Promise<StoredFamily[]>): void {
  for (const options of STORED_FAMILIES) {
    const { family, name, help } = options;
    const isHistogram = family === 'waited' || family === 'ran';
    const ownSamples = async (): Promise<Sample[]> => {
      const stored = (await read()).filter((each) => each.family === family);
      // A counter without labels is there before it counts, so that its first increase shows.
      if (stored.length === 0 && options.labels.length === 0) return [{ labels: {}, value: 0 }];
      return stored.flatMap((each) => (isHistogram ? histogramSamples(each, options) : [counterSample(each, options)]));
    };
    addFamily(registry, { name, help, type: isHistogram ? 'histogram' : 'counter', read: ownSamples });
  }
}

function counterSample({ labels, value }: StoredFamily, options: StoredOptions): Sample {
  return { labels: namedLabels(labels, options), value: value / (options.scale ?? 1) };
}

function namedLabels(values: readonly string[], { labels }: StoredOptions): Record<string, string> {
  return Object.fromEntries(labels.map((label, position) => [label, values[position] ?? '']));
}

/** Buckets in seconds, each with all below it, as Prometheus wants them. */
function histogramSamples({ labels, histogram }: StoredFamily, options: StoredOptions): Sample[] {
  const named = namedLabels(labels, options);
  const { name } = options;
  let below = 0;
  const buckets = histogram.counts.map((count, bucket): Sample => {
    below += count;
    const bound = BUCKETS_MS[bucket];
    const le = bound === undefined ? '+Inf' : bound / MS_PER_SECOND;
    return { metricName: `${name}_bucket`, labels: { ...named, le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: named, value: histogram.sumMs / MS_PER_SECOND },
    { metricName: `${name}_count`, labels: named, value: sizeOf(histogram) },
  ];
}
