import type { Router } from 'express';
import type { Service } from './service.ts';

/** A service that does nothing but answer requests: these are the server's to drain, and connections belong to whoever opened them. */
export function createRouterService(name: string, router: Router): Service {
  return { name, router, start: nothing, stop: nothing };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}
