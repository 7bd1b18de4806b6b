import type { TenantEvent } from '#shared/events/tenant-events.ts';
import { toIso } from '#shared/time/iso.ts';

/** What may be told of one entry of the event stream. */
export interface Notice {
  kind: string;
  /** What is told; of a run, what its record says besides. */
  data: object;
  /** The task that has to be a schedule's for this to be told. */
  run: string | null;
}

/** What a step of a task is to the schedule that made it. */
const RUN_KINDS: Readonly<Record<string, string>> = {
  'task.started': 'run.started',
  'task.completed': 'run.completed',
  'task.permanently_failed': 'run.failed',
  'task.cancelled': 'run.failed',
  'task.stale': 'run.failed',
  'task.skipped': 'run.skipped',
};

/** The kinds that an event is told as. */
export function kindsOf(event: string): string[] {
  const asRun = RUN_KINDS[event];
  return asRun === undefined ? [event] : [event, asRun];
}

/** What is told of an event besides its kind and time, for those that are about no tasks; by the first word of the event. */
const DETAILS: Readonly<Record<string, (fields: TenantEvent['fields']) => object>> = {
  schedule: ({ schedule = null, reason }) => ({ scheduleId: schedule, reason: reason || null }),
  backpressure: ({ depth = 0 }) => ({ queueDepth: Number(depth) }),
  fleet: ({ worker = null, reason }) => ({ worker, reason: reason || null }),
};

/** Everything that may be told of an entry, always in the same order, which a reader's place counts on. */
export function noticesOf({ event, tasks, fields, at: ms }: TenantEvent): Notice[] {
  const at = toIso(ms);
  const [group = ''] = event.split('.', 1);
  if (group === 'task')
    return tasks.flatMap((taskId) =>
      kindsOf(event).map((kind) => ({ kind, data: { kind, at, taskId }, run: kind === event ? null : taskId })),
    );
  const tell = DETAILS[group];
  return tell ? [{ kind: event, data: { kind: event, at, ...tell(fields) }, run: null }] : [];
}
