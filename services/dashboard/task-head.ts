import type { Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { ageText } from './age-text.ts';
import { html, type Html } from './html.ts';
import { statusBadge } from './status-badge.ts';

export interface TaskHeadOptions {
  /** The address of the task's page. */
  address: string;
  /** Whether who looks may stop it and open it again. */
  canSteer: boolean;
  now: number;
}

/** What a task is, where it stands, and what one can do about it. */
export function taskHead({ body, state }: Task, { address, canSteer, now }: TaskHeadOptions): Html {
  const isStopping = state.cancel !== undefined && !isTerminal(state.status);
  return html`<div class="head">
      <h1>${body.agent}</h1>
      ${statusBadge(state.status)}<span class="faint">${isStopping ? 'being stopped · ' : ''}${ageText(state.createdAt, now)}</span>
      ${canSteer ? steering(address, { ...state, isStopping }) : null}
    </div>
    <p class="faint"><code>${body.id}</code></p>`;
}

function steering(address: string, { status, isStopping }: Pick<Task['state'], 'status'> & { isStopping: boolean }): Html | null {
  if (status === 'permanently_failed') return button(address, 'retry', 'Retry');
  return isTerminal(status) || isStopping ? null : button(address, 'cancel', 'Cancel');
}

function button(address: string, action: 'cancel' | 'retry', name: string): Html {
  const [path, query] = address.split('?');
  return html`<form method="post" action="${path}/${action}${query === undefined ? '' : `?${query}`}">
    <button class="quiet">${name}</button>
  </form>`;
}
