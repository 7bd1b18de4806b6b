import type { RequestHandler, ErrorRequestHandler } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { DEFAULT_TENANT, hasScope, publicTenantId, type TenantDirectory } from '#shared/tenants/index.ts';
import { personOf } from '../sign-in/require-sign-in.ts';
import { requestError, toMusterError, toProblem } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';

/**
 * The queues carry the tickets of every tenant, so only an administrator of tenant `default`, who could make a key for any tenant, may
 * see them; while there is no other tenant, every key of `default`. Changing something takes the scope `operate`. Errors:
 * `auth.forbidden`.
 */
export function requireBoardAccess(tenants: Pick<TenantDirectory, 'hasOthers'>): RequestHandler {
  return async (request, _response, next) => {
    const { tenant, scopes } = personOf(request);
    if (tenant !== DEFAULT_TENANT) throw notYours(`yours is of "${publicTenantId(tenant)}"`);
    if (!hasScope(scopes, 'admin') && (await tenants.hasOthers())) throw notYours('yours has another scope');
    if (request.method !== 'GET' && request.method !== 'HEAD' && !hasScope(scopes, 'operate')) {
      throw new MusterError('auth.forbidden', 'Your key may only read. A change needs a key with the scope "operate".');
    }
    next();
  };
}

function notYours(why: string): MusterError {
  return new MusterError(
    'auth.forbidden',
    `The board shows the tickets of all tenants. It needs a key of tenant "${DEFAULT_TENANT}" with the scope "admin"; ${why}.`,
  );
}

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
