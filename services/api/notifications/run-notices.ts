import { readTasks } from '#shared/ledger/index.ts';
import { runRecord } from '#shared/schedules/index.ts';
import type { Task } from '#shared/tasks/index.ts';
import type { Notice } from './notices-of.ts';
import type { Subject, SubjectParts } from './subjects.ts';

export type RunParts = SubjectParts;

/** Which of these tasks are runs. Most are not, and are not read for it. */
export async function findRuns({ redis, keys }: RunParts, tenant: string, tasks: readonly string[]): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set();
  const members = tasks.map((id) => `source=schedule/${id}`);
  const scores = await redis.zmscore(keys.tenant(tenant).index, ...members);
  return new Set(tasks.filter((_, position) => scores[position] !== null));
}

/** What is told: of runs, what their records say by now; null for what is no run after all, or no longer kept. */
export async function describeNotices(
  parts: RunParts,
  tenant: string,
  notices: readonly Notice[],
  subjects: ReadonlyMap<string, Subject>,
): Promise<(object | null)[]> {
  const ids = notices.flatMap(({ task, isOfRun }) => (isOfRun ? (task ?? []) : []));
  const tasks = await readTasks(parts.ledger, tenant, ids);
  const { resultSummaryChars } = parts.config.settings.scheduler;
  return notices.map((notice) => {
    const known = { ...notice, data: { ...notice.data, ...subjects.get(notice.task ?? '') } };
    if (!notice.isOfRun) return known.data;
    const task = tasks[ids.indexOf(notice.task ?? '')];
    return task?.body.scheduleId ? describeRun(known, task, resultSummaryChars) : null;
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
  return kind === 'run.failed' ? { ...ended, error, code: task.state.error?.code ?? null, willRetry: false } : ended;
}
