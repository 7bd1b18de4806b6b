import type { ErrorRequestHandler } from 'express';
import { requestError, sendProblem, toMusterError, toProblem } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import { html } from './html.ts';
import { isApiCall } from './is-api-call.ts';
import { knownPerson } from './require-sign-in.ts';
import { sendPage } from './send-page.ts';

/** Answers with what went wrong: a page for people, a problem for programs. */
export function sendPageError(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const error = requestError(thrown);
    if (isApiCall(request) || response.headersSent) {
      sendProblem(response, error, log);
      return;
    }
    const known = toMusterError(error);
    if (known.code === 'internal.error') log.error({ event: 'http.failed', err: thrown }, 'A page failed');
    const { status, title, detail, code } = toProblem(known);
    if (known.retryAfterMs !== undefined) response.set('Retry-After', String(Math.ceil(known.retryAfterMs / 1000)));
    const content = html`<section class="card narrow">
      <h1>${title}</h1>
      <p>${detail}</p>
      <p class="faint">${status} · ${code}</p>
      <p><a class="button" href="/">To the start page</a></p>
    </section>`;
    sendPage(response, { title, person: knownPerson(request), content }, status);
  };
}
