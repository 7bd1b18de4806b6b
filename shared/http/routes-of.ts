import type { Router } from 'express';
import type { Route } from './route.ts';

const known = new WeakMap<object, readonly Route[]>();

/** Notes which routes a router serves, for the documentation. */
export function rememberRoutes(router: Router, routes: readonly Route[]): void {
  known.set(router, routes);
}

/** The described routes of a router and of the routers mounted in it. */
export function routesOf(router: Router): Route[] {
  const mounted = router.stack.map((layer) => layer.handle).filter(isRouter);
  return [...(known.get(router) ?? []), ...mounted.flatMap((each) => routesOf(each))];
}

function isRouter(handle: unknown): handle is Router {
  return typeof handle === 'function' && 'stack' in handle && Array.isArray(handle.stack);
}
