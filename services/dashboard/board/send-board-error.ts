import type { ErrorRequestHandler } from 'express';
import { requestError, toMusterError, toProblem } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';

/** Answers a call of Bull Board's pages with a problem that also has the two fields they show to people. */
export function sendBoardError(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    if (!request.originalUrl.startsWith('/board/api/') || response.headersSent) {
      next(thrown);
      return;
    }
    const error = toMusterError(requestError(thrown));
    if (error.code === 'internal.error') log.error({ event: 'http.failed', err: thrown }, 'A request of the board failed');
    const problem = toProblem(error, request.originalUrl.split('?')[0]);
    response
      .status(problem.status)
      .type('application/problem+json')
      .send(JSON.stringify({ ...problem, error: problem.title, message: problem.detail }));
  };
}
