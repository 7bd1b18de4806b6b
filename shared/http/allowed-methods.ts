import type { Request, RequestHandler, Response, Router } from 'express';
import { MusterError } from '../errors/index.ts';
import { isRouter } from './route.ts';

type Layer = Router['stack'][number];

/** What a layer of Express has besides what its types say. */
interface MatchingLayer {
  /** Whether it is mounted at `/`, so that what is mounted in it has full paths. */
  readonly slash: boolean;
  match(path: string): boolean;
}

/**
 * For handlers after all routers, since only there it is known that no service of the process serves the request. It says no more than
 * `OPTIONS` does, which needs no key either. Throws `request.method-not-allowed`, with `Allow`, where a route has this address under other methods.
 */
export function assertMethodAllowed(request: Request, response: Response): void {
  const allowed = methodsAt(request.app.router, request.path);
  if (allowed.length === 0 || allowed.includes(request.method)) return;
  throw methodNotAllowed(request, response, allowed);
}

const READS = ['GET', 'HEAD'];

/**
 * For what is served at all addresses below one, such as files, whose methods nobody can look up: answers `OPTIONS`, and refuses each other
 * method with `request.method-not-allowed`.
 */
export function readsOnly(): RequestHandler {
  return (request, response, next) => {
    if (READS.includes(request.method)) next();
    else if (request.method === 'OPTIONS') response.set('Allow', READS.join(', ')).type('text').send(READS.join(', '));
    else throw methodNotAllowed(request, response, READS);
  };
}

function methodNotAllowed(request: Request, response: Response, allowed: readonly string[]): MusterError {
  response.set('Allow', allowed.join(', '));
  const path = `${request.baseUrl}${request.path}`.slice(0, 200);
  return new MusterError('request.method-not-allowed', `${path} takes ${allowed.join(', ')}, not ${request.method}`, {
    details: { allowed },
  });
}

/** The methods of all routes at a path, in order; none where no route has it. A route of `GET` answers `HEAD` too. */
function methodsAt(router: Router, path: string): string[] {
  const methods = new Set(router.stack.flatMap((layer) => methodsOf(layer, path)));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].toSorted();
}

function methodsOf(layer: Layer, path: string): string[] {
  if (!isMatching(layer)) return [];
  const { handle, route } = layer;
  if (route) return layer.match(path) ? namedMethods(route.stack) : [];
  return layer.slash && isRouter(handle) ? methodsAt(handle, path) : [];
}

/** Handlers of every method, such as those that set headers, have none. */
function namedMethods(handlers: readonly { readonly method?: string }[]): string[] {
  return handlers.flatMap(({ method }) => (method === undefined ? [] : [method.toUpperCase()]));
}

function isMatching(layer: Layer): layer is Layer & MatchingLayer {
  return 'match' in layer && 'slash' in layer;
}
