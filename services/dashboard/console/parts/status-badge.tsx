import type { ReactElement } from 'react';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import classes from './status-badge.module.css';
import type { Tone } from './tone.ts';

export type { Tone } from './tone.ts';

/** A task's status as a coloured word. */
export function StatusBadge({ status }: { status: TaskStatus }): ReactElement {
  return <ToneBadge tone={STATUS_TONES[status]}>{status.replaceAll('_', ' ')}</ToneBadge>;
}

/** A coloured word; the colour adds no meaning of its own. */
export function ToneBadge({ tone, children }: { tone: Tone; children: string }): ReactElement {
  return <span className={`${classes['badge']} ${classes[tone]}`}>{children}</span>;
}

/** The tone of each task status. */
const STATUS_TONES: Readonly<Record<TaskStatus, Tone>> = {
  pending: 'idle',
  queued: 'idle',
  scheduled: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'warn',
  timeout: 'warn',
  suspended: 'idle',
  cancelled: 'idle',
  stale: 'warn',
  skipped: 'idle',
  permanently_failed: 'bad',
};
