import { truncate } from '../text/index.ts';
import { TASK_STATUSES, type TaskStatus } from './transitions.ts';

const MAX_NOTE_CHARACTERS = 200;

interface TimelineEntry {
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

/** A note as an entry of the timeline holds it: short, on one line, without semicolons. The scripts replace the same characters. */
export function timelineNote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the ones to replace
  return truncate(text, MAX_NOTE_CHARACTERS).replaceAll(/[;\u0000-\u001f\u007f]/g, ',');
}
