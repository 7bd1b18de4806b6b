import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { html, type Html } from './html.ts';

const TONES: Readonly<Record<TaskStatus, 'idle' | 'busy' | 'good' | 'warn' | 'bad'>> = {
  pending: 'idle',
  queued: 'idle',
  scheduled: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'warn',
  timeout: 'warn',
  cancelled: 'idle',
  stale: 'warn',
  skipped: 'idle',
  permanently_failed: 'bad',
};

/** A task's status as a coloured word. */
export function statusBadge(status: TaskStatus): Html {
  return html`<span class="badge ${TONES[status]}">${status.replaceAll('_', ' ')}</span>`;
}
