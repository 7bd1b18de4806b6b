import { Router, type ErrorRequestHandler, type Request } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { requestError, sendProblem, toMusterError, toProblem } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import { isApiCall, knownPerson } from '../sign-in/require-sign-in.ts';
import { pageHeaders } from './page-headers.ts';
import { html, sendPage } from './page.ts';

/** Reports an error: as a page to people, as a problem to programs. */
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

/** Shows a page for an unknown address to people; programs get the server's problem. Errors: `request.not-found`. */
export function unknownPage(): Router {
  const router = Router();
  router.use(
    (request, _response, next) => (isBrowserRequest(request) ? next() : next('router')),
    ...pageHeaders('page'),
    (request) => {
      throw new MusterError('request.not-found', `There is no page ${request.path.slice(0, 200)}`);
    },
  );
  return router;
}

/** Only browsers request HTML explicitly. */
function isBrowserRequest(request: Request): boolean {
  return request.method === 'GET' && request.get('accept')?.includes('text/html') === true;
}
