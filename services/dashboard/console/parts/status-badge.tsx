import type { ReactElement } from 'react';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { STATUS_TONES, type Tone } from './status-tones.ts';
import classes from './status-badge.module.css';

/** A task's status as a coloured word. */
export function StatusBadge({ status }: { status: TaskStatus }): ReactElement {
  return <ToneBadge tone={STATUS_TONES[status]}>{status.replaceAll('_', ' ')}</ToneBadge>;
}

/** A word and its colour, which says nothing that the word does not. */
export function ToneBadge({ tone, children }: { tone: Tone; children: string }): ReactElement {
  return <span className={`${classes['badge']} ${classes[tone]}`}>{children}</span>;
}
