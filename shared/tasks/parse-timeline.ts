import { TASK_STATUSES, type TaskStatus } from './transitions.ts';

export interface TimelineEntry {
  status: TaskStatus;
  /** Milliseconds since the epoch. */
  at: number;
  note: string | null;
}

/** Reads the timeline in a task's state, oldest entry first. */
export function parseTimeline(log: string): TimelineEntry[] {
  return log.split(';').map((entry) => {
    const [, name, at = '0', note] = /^(\w+)@(\d+)(?: (.*))?$/s.exec(entry) ?? [];
    const status = TASK_STATUSES.find((each) => each === name) ?? 'pending';
    return { status, at: Number(at), note: note ?? null };
  });
}
