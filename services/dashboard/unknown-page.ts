import { Router, type Request } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { pageHeaders } from './page-headers.ts';

/**
 * For addresses that nobody serves: a browser that shows the answer to a person gets a page. Programs go on to the problem of the
 * server. Errors: `request.not-found`.
 */
export function unknownPage(): Router {
  const router = Router();
  router.use(
    (request, _response, next) => (isForPerson(request) ? next() : next('router')),
    ...pageHeaders('page'),
    (request) => {
      throw new MusterError('request.not-found', `There is no page ${request.path.slice(0, 200)}`);
    },
  );
  return router;
}

/** Programs take what comes; browsers ask for HTML by name. */
function isForPerson(request: Request): boolean {
  return request.method === 'GET' && request.get('accept')?.includes('text/html') === true;
}
