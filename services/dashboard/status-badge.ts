import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { html, type Html } from './html.ts';
import { STATUS_TONES } from './status-tones.ts';

/** A task's status as a coloured word. */
export function statusBadge(status: TaskStatus): Html {
  return html`<span class="badge ${STATUS_TONES[status]}">${status.replaceAll('_', ' ')}</span>`;
}
