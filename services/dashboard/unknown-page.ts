import type { RequestHandler } from 'express';
import { MusterError } from '#shared/errors/muster-error.ts';
import { pageHeaders } from './page-headers.ts';

/**
 * For addresses that nobody serves, as handlers of one route: a browser that shows the answer to a person gets a page. A program,
 * which does not ask for HTML by name, goes on to the problem of the server. Errors: `request.not-found`.
 */
export function unknownPage(): RequestHandler[] {
  return [
    (request, _response, next) => (request.get('accept')?.includes('text/html') === true ? next() : next('route')),
    ...pageHeaders('page'),
    (request) => {
      throw new MusterError('request.not-found', `There is no page ${request.path.slice(0, 200)}`);
    },
  ];
}
