import type { Router } from 'express';
import type { Registry } from 'prom-client';

/** One long-lived part of the fleet. It does nothing before `start()` and owns what it opened until `stop()`. */
export interface Service {
  readonly name: string;
  /** The HTTP paths it serves, when it serves any; mounted at `/` of the process's server. */
  readonly router?: Router;
  /** Its own metrics, for `/metrics`. */
  readonly registry?: Registry;
  start(): Promise<void>;
  /** What is stuck in this process, as text for `/readyz`. */
  problems?(): string[];
  /** Ends it: takes no new work, lets running work end, and hands back the rest when the time is over. Resolves by then; never rejects. */
  stop(graceMs: number): Promise<void>;
}

/** A service that does nothing but answer requests: these are the server's to drain, and connections belong to whoever opened them. */
export function createRouterService(name: string, router: Router): Service {
  return { name, router, start: nothing, stop: nothing };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}
