import type { WaitExplanation } from '#shared/queue/explain-wait.ts';
import { parseTimeline, type TimelineEntry } from '#shared/tasks/parse-timeline.ts';
import type { StoredAttempt, StoredError, Task } from '#shared/tasks/task.ts';
import { toIso } from '#shared/time/iso.ts';
import { html, type Html, type HtmlPart } from './html.ts';
import { statusBadge } from './status-badge.ts';
import { ageText } from './age-text.ts';
import { durationText } from './duration-text.ts';

/** A task, top down: what it is, why it waits, what went in and out, its attempts, its timeline, its record. */
export function taskDetails(task: Task, why: WaitExplanation, now: number): Html {
  const { body, state, output, result } = task;
  return html`<div class="head">
      <h1>${body.agent}</h1>
      ${statusBadge(state.status)}<span class="faint">${ageText(state.createdAt, now)}</span>
    </div>
    <p class="faint"><code>${body.id}</code></p>
    ${why.reasons.length === 0 ? null : waiting(why)} ${state.error ? problem(state.error) : null}
    <div class="columns">
      ${text('Input', body.input)} ${output === null ? null : text('Output', output)}
      ${result === null || result === undefined ? null : text('Result', JSON.stringify(result, null, 2))}
    </div>
    ${attempts(task.attempts, now)}
    <section class="card">
      <h2>Timeline</h2>
      <ol class="timeline">
        ${parseTimeline(state.log).map(step)}
      </ol>
    </section>
    ${record(task)}`;
}

function waiting({ reasons, estimatedStartMs }: WaitExplanation): Html {
  const estimate = estimatedStartMs === null ? null : html` <span class="faint">starts in about ${durationText(estimatedStartMs)}</span>`;
  return html`<p class="note"><strong>Why it waits</strong> ${reasons.map(({ detail }) => detail).join('; ')}${estimate}</p>`;
}

function text(title: string, content: string): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    <pre>${content}</pre>
  </section>`;
}

function problem({ code, message, retryable }: StoredError): Html {
  return html`<p class="problem">
    <strong>${code}</strong> ${message} <span class="faint">${retryable ? 'retryable' : 'not retryable'}</span>
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

function record({ body, state }: Task): Html {
  const rows: [name: string, value: HtmlPart][] = [
    ['Tenant', body.tenant],
    ['Source', body.channel === null ? body.source : `${body.source} · ${body.channel}`],
    ['Session', body.session],
    ['Queue', state.queue],
    ['Priority', state.priority],
    ['Attempts', `${state.spent} of ${state.maxAttempts}`],
    ['Worker', state.worker],
    ['Outcome', state.outcome ? [state.outcome.kind, state.outcome.reason].filter(Boolean).join(': ') : null],
    ['Tokens', state.usage ? `${state.usage.inputTokens} in, ${state.usage.outputTokens} out` : null],
    ['Deadline', toIso(body.deadline)],
    ['Scheduled for', toIso(body.scheduledFor)],
    ['Parent', body.parentTaskId === null ? null : html`<a href="/tasks/${body.parentTaskId}"><code>${body.parentTaskId}</code></a>`],
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
