import type { Attention, MinuteMetrics, Now, QueueMetrics, Task } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';

export interface NowParts {
  readonly now: Now;
  readonly metrics: QueueMetrics;
  /** Oldest first, the minutes of the last hour. */
  readonly history: MinuteMetrics[];
  readonly attention: Attention[];
  /** The first tasks that wait, and the newest tasks that failed. */
  readonly waiting: Task[];
  readonly failed: Task[];
}

const SHOWN = 12;
const MINUTES = 60;

/** Everything that the first page shows. */
export async function readNow(signal: AbortSignal): Promise<NowParts> {
  const tasksOf = (status: string): Promise<Task[]> =>
    itemsOf(api.GET('/v1/tasks', { params: { query: { status, limit: SHOWN } }, signal }));
  const [now, metrics, history, attention, waiting, failed] = await Promise.all([
    answerOf(api.GET('/v1/now', { params: { query: { limit: SHOWN } }, signal })),
    answerOf(api.GET('/v1/metrics', { signal })),
    itemsOf(api.GET('/v1/metrics/history', { params: { query: { minutes: MINUTES } }, signal })),
    itemsOf(api.GET('/v1/attention', { signal })),
    tasksOf('pending,queued'),
    tasksOf('permanently_failed,failed,timeout'),
  ]);
  return { now, metrics, history, attention, waiting, failed };
}

/** Whether the tenant has had a task. */
export async function hasTasks(signal: AbortSignal): Promise<boolean> {
  return (await itemsOf(api.GET('/v1/tasks', { params: { query: { limit: 1 } }, signal }))).length > 0;
}
