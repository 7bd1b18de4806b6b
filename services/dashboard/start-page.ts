import type { RequestHandler } from 'express';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { listTasks } from '#shared/ledger/list-tasks.ts';
import type { Task } from '#shared/tasks/task.ts';
import type { Clock } from '#shared/time/clock.ts';
import { html, type Html } from './html.ts';
import { visitorOf } from './require-session.ts';
import { sendPage } from './send-page.ts';
import { statusBadge } from './status-badge.ts';
import { ageText } from './time-text.ts';

const SHOWN = 20;
const EXCERPT_CHARACTERS = 140;

/** `GET /`: the tenant's newest tasks. */
export function startPage(ledger: Ledger, clock: Clock): RequestHandler {
  return async (request, response) => {
    const visitor = visitorOf(request);
    const { items } = await listTasks(ledger, visitor.tenant, {}, { limit: SHOWN });
    const content = html`<div class="head">
        <h1>Recent tasks</h1>
        <a class="button" href="/">Refresh</a>
      </div>
      ${
        items.length === 0
          ? empty()
          : html`<ul class="tasks">
              ${items.map((task) => row(task, clock.now()))}
            </ul>`
      }`;
    sendPage(response, { title: 'Muster', visitor, content });
  };
}

function row({ body, state }: Task, now: number): Html {
  return html`<li>
    <a class="task" href="/tasks/${body.id}">
      <span class="line"
        ><strong>${body.agent}</strong>${statusBadge(state.status)}<span class="faint age">${ageText(state.createdAt, now)}</span></span
      >
      <span class="excerpt">${excerpt(body.input)}</span>
      <code class="faint">${body.id}</code>
    </a>
  </li>`;
}

function excerpt(input: string): string {
  const line = input.replaceAll(/\s+/g, ' ').trim();
  return line.length > EXCERPT_CHARACTERS ? `${line.slice(0, EXCERPT_CHARACTERS)}…` : line;
}

function empty(): Html {
  return html`<section class="card">
    <h2>Nothing yet</h2>
    <p>Send the first task, on the machine of the fleet:</p>
    <pre>npx muster send "Hello"</pre>
    <p>From anywhere, with the address in <code>MUSTER_URL</code> and a key in <code>MUSTER_API_KEY</code>:</p>
    <pre>
curl "$MUSTER_URL/v1/tasks" -H "Authorization: Bearer $MUSTER_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"agent":"echo","input":"Hello"}'</pre>
    <p>The <a href="/docs">API documentation</a> has the rest.</p>
  </section>`;
}
