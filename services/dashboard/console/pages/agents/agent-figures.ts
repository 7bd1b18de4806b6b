import type { AgentTask } from '../../api/agents.ts';

/** What the newest tasks of an agent show of it. */
export interface AgentFigures {
  readonly count: number;
  /** When the newest task was created, whether it has ended or not. */
  readonly lastAt: string | null;
  /** Of the tasks that ended; null while none has. */
  readonly failureRate: number | null;
  /** The 95th percentile of the durations of the tasks that ended; null while none has. */
  readonly p95Ms: number | null;
}

const P95 = 0.95;
const FAILED: ReadonlySet<string> = new Set(['permanently_failed', 'stale']);

/** `tasks` are newest first. */
export function figuresOf(tasks: readonly AgentTask[]): AgentFigures {
  const ended = tasks.filter(({ status }) => status === 'completed' || FAILED.has(status));
  const failed = ended.filter(({ status }) => FAILED.has(status));
  const durations = tasks
    .flatMap(({ startedAt, completedAt }) => (startedAt && completedAt ? [Date.parse(completedAt) - Date.parse(startedAt)] : []))
    .toSorted((a, b) => a - b);
  return {
    count: tasks.length,
    lastAt: tasks[0]?.createdAt ?? null,
    failureRate: ended.length === 0 ? null : failed.length / ended.length,
    p95Ms: durations[Math.ceil(durations.length * P95) - 1] ?? null,
  };
}
