import type { Source, TaskQueue } from '../config/index.ts';
import { type PriorityBand, priorityBand, type TaskStatus } from '../tasks/index.ts';
import { createHistogram, type Histogram } from './histogram.ts';

/** What a task is counted by. */
export interface CountedTask {
  queue: TaskQueue;
  priority: number;
  source: Source;
}

/** Counts of tasks that have queue, band and source in common. */
export interface Series {
  queue: TaskQueue;
  band: PriorityBand;
  source: Source;
  accepted: number;
  /** Tasks refused under pressure. */
  shed: number;
  /** Attempts that another one follows because they failed. */
  retried: number;
  /** Attempts that were cut short because a critical task got their place. */
  preempted: number;
  /** Tasks whose sla passed before their end. */
  slaBreached: number;
  /** Of the attempts that ended, millionths of a US dollar. */
  costMicroUsd: number;
  ended: Map<TaskStatus, number>;
  /** By `<result>|<code>`. */
  attempts: Map<string, number>;
  waited: Histogram;
  ran: Histogram;
}

/** The series that counts such a task, by queue, band and source. */
export function seriesOf(series: Map<string, Series>, { queue, priority, source }: CountedTask): Series {
  const band = priorityBand(queue, priority);
  const name = `${queue}|${band}|${source}`;
  let found = series.get(name);
  if (!found) series.set(name, (found = createSeries(queue, band, source)));
  return found;
}

function createSeries(queue: TaskQueue, band: PriorityBand, source: Source): Series {
  const counts = { accepted: 0, shed: 0, retried: 0, preempted: 0, slaBreached: 0, costMicroUsd: 0, ended: new Map(), attempts: new Map() };
  return { queue, band, source, ...counts, waited: createHistogram(), ran: createHistogram() };
}

/** Counts one more by a name. */
export function addOne<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
