import type { WaitExplanation } from '#shared/queue/explain-wait.ts';
import { parseTimeline, type TimelineEntry } from '#shared/tasks/parse-timeline.ts';
import type { StoredAttempt, StoredError, Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { toIso } from '#shared/time/iso.ts';
import { html, type Html, type HtmlPart } from './html.ts';
import { statusBadge } from './status-badge.ts';
import { durationText } from './duration-text.ts';
import { taskHead } from './task-head.ts';
import { linked, type TaskLinks } from './task-links.ts';

export interface ShownTask extends Task {
  /** What the last attempt wrote of an output that is not the task's. */
  written: string | null;
}

export interface TaskDetailsOptions {
  links: TaskLinks;
  /** Whether who looks may stop it and open it again. */
  canSteer: boolean;
  now: number;
}

/** A task, top down: what it is, why it waits, what went in and out, its attempts, its timeline, its record. */
export function taskDetails(task: ShownTask, why: WaitExplanation, { links, canSteer, now }: TaskDetailsOptions): Html {
  const { body, state, output, written, result } = task;
  return html`${taskHead(task, { address: links.task(body.id), canSteer, now })} ${why.reasons.length === 0 ? null : waiting(why, links)}
    ${state.error ? problem(task, state.error) : null}
    <div class="columns">
      ${text('Input', body.input)} ${output === null ? null : text('Output', output)}
      ${written === null ? null : text(isTerminal(state.status) ? 'What the last attempt wrote' : 'Output so far', written)}
      ${result === null || result === undefined ? null : text('Result', JSON.stringify(result, null, 2))}
    </div>
    ${attempts(task.attempts, now)}
    <section class="card">
      <h2>Timeline</h2>
      <ol class="timeline">
        ${parseTimeline(state.log).map(step)}
      </ol>
    </section>
    ${record(task, links)}`;
}

function waiting({ reasons, estimatedStartMs }: WaitExplanation, links: TaskLinks): Html {
  const estimate =
    estimatedStartMs === null ? null : html`<br /><span class="faint">Starts in about ${durationText(estimatedStartMs)}</span>`;
  return html`<p class="note">
    <strong>Why it waits</strong> ${reasons.map((each, place) => [place === 0 ? '' : '; ', reason(each, links)])}${estimate}
  </p>`;
}

/** The task that has to go first is named in the sentence, and a click away. */
function reason({ detail, taskId }: WaitExplanation['reasons'][number], links: TaskLinks): HtmlPart {
  const at = taskId === null ? -1 : detail.indexOf(taskId);
  if (taskId === null || at < 0) return detail;
  return [detail.slice(0, at), linked(taskId, links.task(taskId)), detail.slice(at + taskId.length)];
}

function text(title: string, content: string): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    <pre>${content}</pre>
  </section>`;
}

function problem({ state }: Task, { code, message, retryable }: StoredError): Html {
  // Of one that failed for good it says why no attempt followed: the kind of the failure, or their number.
  const spent = retryable ? `No attempt is left: ${state.spent} of ${state.maxAttempts}` : 'A failure of this kind is not tried again';
  return html`<p class="problem">
    <strong>${code}</strong> ${message} ${state.status === 'permanently_failed' ? html`<br /><span class="faint">${spent}</span>` : null}
  </p>`;
}

function attempts(list: readonly StoredAttempt[], now: number): Html | null {
  if (list.length === 0) return null;
  return html`<section class="card">
    <h2>Attempts</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Attempts">
      <table>
        <thead>
          <tr>
            <th>#</th>
            <th>Status</th>
            <th>Took</th>
            <th>Worker</th>
            <th>Error</th>
          </tr>
        </thead>
        <tbody>
          ${list.map(
            (attempt) =>
              html`<tr>
                <td>${attempt.number}</td>
                <td>${attempt.status}</td>
                <td>${durationText((attempt.endedAt ?? now) - attempt.startedAt)}</td>
                <td><code>${attempt.daemon ?? attempt.worker}</code></td>
                <td>${attempt.error ? html`<strong>${attempt.error.code}</strong> ${attempt.error.message}` : '–'}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function step({ status, at, note }: TimelineEntry): Html {
  return html`<li><time class="faint">${toIso(at)}</time>${statusBadge(status)}${note === null ? null : html`<span>${note}</span>`}</li>`;
}

function record({ body, state }: Task, links: TaskLinks): Html {
  const rows: [name: string, value: HtmlPart][] = [
    ['Tenant', body.tenant],
    ['Source', body.channel === null ? body.source : `${body.source} · ${body.channel}`],
    ['Session', body.session === null ? null : linked(body.session, links.session(body.session))],
    ['Queue', state.queue],
    ['Priority', state.priority],
    ['Attempts', `${state.spent} of ${state.maxAttempts}`],
    ['Worker', state.worker],
    ['Outcome', state.outcome ? [state.outcome.kind, state.outcome.reason].filter(Boolean).join(': ') : null],
    ['Tokens', state.usage ? `${state.usage.inputTokens} in, ${state.usage.outputTokens} out` : null],
    ['Deadline', toIso(body.deadline)],
    ['Scheduled for', toIso(body.scheduledFor)],
    ['Parent', body.parentTaskId === null ? null : html`<code>${linked(body.parentTaskId, links.task(body.parentTaskId))}</code>`],
    ['Correlation', body.correlationId],
    ['Started', toIso(state.startedAt)],
    ['Completed', toIso(state.completedAt)],
    ['Context', body.context ? html`<pre>${JSON.stringify(body.context, null, 2)}</pre>` : null],
    ['Metadata', body.metadata ? html`<pre>${JSON.stringify(body.metadata, null, 2)}</pre>` : null],
  ];
  const known = rows.filter(([, value]) => value !== null && value !== undefined);
  return html`<section class="card">
    <h2>Record</h2>
    <dl>
      ${known.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
