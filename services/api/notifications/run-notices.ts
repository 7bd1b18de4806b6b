import { readTasks } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { runRecord } from '#shared/schedules/run-record.ts';
import type { Task } from '#shared/tasks/task.ts';
import type { Notice } from './notices-of.ts';

export type RunParts = Pick<Parts, 'ledger' | 'redis' | 'keys' | 'config'>;

/** Which of these tasks are runs. Most are not, and are not read for it. */
export async function findRuns({ redis, keys }: RunParts, tenant: string, tasks: readonly string[]): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set();
  const members = tasks.map((id) => `source=schedule/${id}`);
  const scores = await redis.zmscore(keys.tenant(tenant).index, ...members);
  return new Set(tasks.filter((_, position) => scores[position] !== null));
}

/** What is told: of runs, what their records say by now; null for what is no run after all, or no longer kept. */
export async function describeNotices(parts: RunParts, tenant: string, notices: readonly Notice[]): Promise<(object | null)[]> {
  const ids = notices.flatMap(({ run }) => run ?? []);
  const tasks = await readTasks(parts.ledger, tenant, ids);
  const { resultSummaryChars } = parts.config.settings.scheduler;
  return notices.map((notice) => {
    if (notice.run === null) return notice.data;
    const task = tasks[ids.indexOf(notice.run)];
    return task?.body.scheduleId ? describeRun(notice, task, resultSummaryChars) : null;
  });
}

function describeRun({ kind, data }: Notice, task: Task, summaryCharacters: number): object {
  const { id, scheduleId, agent, occurrence, startedAt, ...now } = runRecord(task, summaryCharacters);
  const known = { ...data, scheduleId, runId: id, taskId: id, agent, occurrence };
  // It may have ended since it started.
  if (kind === 'run.started') return { ...known, status: 'running', startedAt, completedAt: null };
  const { status, completedAt, reason, resultSummary, error, inputTokens, outputTokens } = now;
  const ended = { ...known, status, startedAt, completedAt, reason };
  if (kind === 'run.completed') return { ...ended, resultSummary, inputTokens, outputTokens };
  return kind === 'run.failed' ? { ...ended, error } : ended;
}
