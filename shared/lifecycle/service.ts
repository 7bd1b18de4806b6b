import type { Router } from 'express';
import type { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import type { HttpServer, HttpServerOptions, Readiness, UpgradeHandler } from '../http/index.ts';
import type { Log } from '../log/index.ts';
import { LATE, within } from '../time/index.ts';

/** One long-lived part of the fleet. It does nothing before `start()` and owns what it opened until `stop()`. */
export interface Service {
  readonly name: string;
  /** The HTTP paths it serves, when it serves any; mounted at `/` of the process's server. */
  readonly router?: Router;
  /** The WebSocket that it serves, if any. */
  readonly upgrade?: UpgradeHandler;
  /** Its own metrics, for `/metrics`. */
  readonly registry?: Registry;
  start(): Promise<void>;
  /** What is stuck in this process, as text for `/readyz`. */
  problems?(): string[];
  /** Ends it: takes no new work, lets running work end, and returns the rest when the time is over. Resolves by then; never rejects. */
  stop(graceMs: number): Promise<void>;
}

/** A service that only answers requests: the server drains them, and connections are closed by the code that opened them. */
export function createRouterService(name: string, router: Router): Service {
  return { name, router, start: nothing, stop: nothing };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

interface ServeOptions {
  config: Config;
  log: Log;
  services: readonly Service[];
  /** Of the process, besides those of its services. */
  registries?: readonly Registry[];
  startHttpServer: (options: HttpServerOptions) => Promise<HttpServer>;
  /** Which parts of Redis do not answer, as text. */
  redisProblems: () => Promise<string[]>;
  /** What is wrong with Redis although the process can take work; by default nothing. */
  warnings?: () => readonly string[];
}

export interface Served {
  port: number;
  /** Drains: answers on `/readyz` that it is leaving, and ends requests and services within `graceMs`. Never rejects. */
  stop(graceMs: number): Promise<void>;
}

/** What keeps a process from taking work, for its `/readyz` and for the findings of the fleet. */
export async function problemsOf(services: readonly Service[], redisProblems: ServeOptions['redisProblems']): Promise<string[]> {
  return [...(await redisProblems()), ...services.flatMap((service) => service.problems?.() ?? [])];
}

/** Starts services and the HTTP server in front of them; leaves nothing running when one of them cannot start. */
export async function serve({
  config,
  log,
  services,
  registries: own = [],
  startHttpServer,
  redisProblems,
  warnings,
}: ServeOptions): Promise<Served> {
  let phase: 'starting' | 'ready' | 'shutting down' = 'starting';
  const readiness = async (): Promise<Readiness> => {
    if (phase !== 'ready') return phase;
    return await problemsOf(services, redisProblems);
  };
  const routers = services.flatMap((service) => (service.router ? [service.router] : []));
  const upgrades = services.flatMap((service) => service.upgrade ?? []);
  const registries = [...own, ...services.flatMap((service) => service.registry ?? [])];
  const { HOST: host, PORT: port } = config.env;
  // First, so that a worker takes no task only to hand it back because the port is taken.
  const http = await startHttpServer({ routers, upgrades, host, port, config, log, readiness, warnings, registries });
  try {
    const running = await startServices(services, log);
    phase = 'ready';
    const stop = async (graceMs: number): Promise<void> => {
      phase = 'shutting down';
      if (routers.length + upgrades.length > 0) {
        // Together: an answer that a request waits for comes from the work that the services still finish.
        await Promise.all([running.stop(graceMs), closeHttp(http, graceMs, log)]);
        return;
      }
      // Only probes and metrics are served, and who looks at a worker wants to see it also while its last tasks end.
      await running.stop(graceMs);
      await closeHttp(http, NOTICE_MS, log);
    };
    return { port: http.port, stop };
  } catch (error) {
    await closeHttp(http, 0, log);
    throw error;
  }
}

async function closeHttp(http: HttpServer, graceMs: number, log: Log): Promise<void> {
  try {
    await http.close(graceMs);
  } catch (error) {
    log.error({ event: 'http.close-failed', err: error }, 'The HTTP server failed while it closed');
  }
}

interface RunningServices {
  /** Ends all, the last started first, within `graceMs` together. Never rejects. */
  stop(graceMs: number): Promise<void>;
}

/** Past its deadline a service gets this long to notice before the next one is stopped. */
const NOTICE_MS = 250;

/** Starts services one after the other. When one cannot start, those before it are stopped and its error is thrown. */
export async function startServices(services: readonly Service[], log: Log): Promise<RunningServices> {
  const started: Service[] = [];
  const stop = (graceMs: number): Promise<void> => stopInReverse(started, graceMs, log);
  for (const service of services) {
    try {
      await service.start();
    } catch (error) {
      log.error({ event: 'service.start-failed', name: service.name }, `The service ${service.name} could not start`);
      await stop(0);
      throw error;
    }
    started.push(service);
  }
  return { stop };
}

/** One deadline for all: what an early one does not use is left to the next. */
async function stopInReverse(services: readonly Service[], graceMs: number, log: Log): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (const service of services.toReversed()) {
    const leftMs = Math.max(deadline - performance.now(), 0);
    try {
      const end = await within(service.stop(leftMs), leftMs + NOTICE_MS);
      if (end === LATE) log.warn({ event: 'service.stop-late', name: service.name }, `The service ${service.name} did not stop in time`);
    } catch (error) {
      log.error({ event: 'service.stop-failed', name: service.name, err: error }, `The service ${service.name} failed while it stopped`);
    }
  }
}
