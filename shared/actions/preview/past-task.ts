import type { SourceClass } from '../../config/index.ts';
import { CLASS_OF, parseTimeline, PRIORITY_NAMES, type TaskState } from '../../tasks/index.ts';

/** A task that ran, as far as limits are concerned. Times are ms since the epoch. */
export interface PastTask {
  id: string;
  acceptedAt: number;
  /** When it was granted: its lane was free and its time had come. */
  readyAt: number;
  /** How long its attempts ran in all, ms. */
  ranMs: number;
  source: SourceClass;
  agent: string;
  priority: number;
  isLow: boolean;
}

/** The task of a state; null for a task that never ran. An attempt that still runs counts until `now`. */
export function pastTask(id: string, state: TaskState, now: number): PastTask | null {
  const ranMs = runningMs(state, now);
  if (ranMs === null) return null;
  const { createdAt, queuedAt = createdAt, source, agent, priority } = state;
  const isLow = priority === PRIORITY_NAMES.low;
  return { id, acceptedAt: createdAt, readyAt: queuedAt, ranMs, source: CLASS_OF[source], agent, priority, isLow };
}

/** How long a task ran by its timeline, ms; null when it has no run there. */
function runningMs({ log, startedAt }: TaskState, now: number): number | null {
  const entries = parseTimeline(log);
  const runs = entries.flatMap(({ status, at }, position) =>
    status === 'running' ? [Math.max(0, (entries[position + 1]?.at ?? now) - at)] : [],
  );
  if (runs.length === 0) return startedAt === undefined ? null : Math.max(0, now - startedAt);
  return runs.reduce((total, ms) => total + ms, 0);
}
