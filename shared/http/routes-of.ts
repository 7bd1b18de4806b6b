import type { Router } from 'express';
import type { RouteDescription } from './route.ts';

const known = new WeakMap<object, readonly RouteDescription[]>();

/** Notes what a router itself serves, besides the routers mounted in it, for the documentation. */
export function rememberRoutes(router: Router, routes: readonly RouteDescription[]): void {
  known.set(router, routes);
}

/** The described routes of a router and of the routers mounted in it. */
export function routesOf(router: Router): RouteDescription[] {
  const mounted = router.stack.map((layer) => layer.handle).filter(isRouter);
  return [...(known.get(router) ?? []), ...mounted.flatMap((each) => routesOf(each))];
}

function isRouter(handle: unknown): handle is Router {
  return typeof handle === 'function' && 'stack' in handle && Array.isArray(handle.stack);
}
