import { monotonicFactory } from 'ulid';

const next = monotonicFactory();

/** A new id: 26 letters and digits that sort by time, also within one millisecond of one process. */
export function newTaskId(): string {
  return next();
}

/** What every id of a task looks like; anything else cannot be one. */
export const TASK_ID: RegExp = /^[0-9A-HJKMNP-TV-Z]{26}$/;
